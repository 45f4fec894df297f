import type { RawData } from 'ws';
import { DISCONNECTS, type Disconnect } from '../connections/disconnect.ts';
import { parseMessage, type ClientMessage } from './client-message.ts';
import { DATA_FRAMES } from './frame.ts';
import type { Subprotocol } from './subprotocol.ts';

/** Its name in `Sec-WebSocket-Protocol`. */
export const LEGACY_PROTOCOL = 'graphql-ws';

/** A message of graphql-ws. */
interface ServerMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

const KEEP_ALIVE = '{"type":"ka"}';

/** Most operations that wait for the acknowledgement: clients send the first ones right after `connection_init`. */
const MAX_HELD = 100;

const TYPES: ReadonlySet<unknown> = new Set(['connection_init', 'start', 'stop', 'connection_terminate']);

/**
 * The subprotocol of subscriptions-transport-ws, one for each connection:
 *
 *     start, stop             subscribe, complete
 *     data, error, complete   next, error, complete
 *     ka                      –
 *     connection_error        (the close frame)
 *
 * Clients send `start` without waiting for `connection_ack`. A `start` whose id is in use replaces the operation with this
 * id.
 */
export class LegacySubprotocol implements Subprotocol {
  readonly format = DATA_FRAMES;
  /** Undefined once the connection is acknowledged. */
  #held: ClientMessage[] | undefined = [];
  #isAcknowledged = false;
  readonly #open = new Set<unknown>();

  /** None before the acknowledgement: some clients take the first message for it. */
  get heartbeat(): string | undefined {
    return this.#isAcknowledged ? KEEP_ALIVE : undefined;
  }

  received(data: RawData, isBinary: boolean): readonly ClientMessage[] | Disconnect {
    const message = parseMessage(data, isBinary, TYPES);
    if (!('type' in message)) return message;
    const translated = this.#translated(message);
    if (this.#held === undefined || !Array.isArray(translated) || message.type === 'connection_init') {
      return translated;
    }
    this.#held.push(...translated);
    return this.#held.length > MAX_HELD ? DISCONNECTS.tooManyMessages : [];
  }

  sent(text: string): readonly string[] {
    const message = JSON.parse(text) as ServerMessage;
    const { type, id, payload } = message;
    switch (type) {
      case 'connection_ack':
        this.#isAcknowledged = true;
        return [text, KEEP_ALIVE];
      case 'next':
        return [JSON.stringify({ type: 'data', id, payload })];
      case 'error':
        this.#open.delete(id);
        return [JSON.stringify({ type: 'error', id, payload: legacyError(payload) })];
      case 'complete':
        this.#open.delete(id);
        return [text];
      default:
        // This subprotocol has neither ping nor pong.
        return [];
    }
  }

  released(): readonly ClientMessage[] {
    if (!this.#isAcknowledged || this.#held === undefined) return [];
    const released = this.#held;
    this.#held = undefined;
    return released;
  }

  closing({ reason }: Pick<Disconnect, 'reason'>): readonly string[] {
    if (this.#isAcknowledged) return [];
    return [JSON.stringify({ type: 'connection_error', payload: { message: reason } })];
  }

  #translated(message: ClientMessage): readonly ClientMessage[] | Disconnect {
    const { type, id } = message;
    switch (type) {
      case 'start': {
        const subscribe = { ...message, type: 'subscribe' };
        const isInUse = this.#open.has(id);
        this.#open.add(id);
        return isInUse ? [{ type: 'complete', id }, subscribe] : [subscribe];
      }
      case 'stop':
        return this.#open.delete(id) ? [{ type: 'complete', id }] : [];
      case 'connection_terminate':
        return DISCONNECTS.asked;
      default:
        return [message];
    }
  }
}

/** Clients expect one error; the client of subscriptions-transport-ws also accepts the list. */
function legacyError(errors: unknown): unknown {
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  return typeof first === 'object' ? { ...first, errors } : errors;
}
