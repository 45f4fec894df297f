import { RawClient, type Receiver } from '../clients/raw-client.ts';
import { ClientAccount } from './client-account.ts';
import { isKept, operationOf, type Subscription, type Update } from './subscriptions.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

interface Options {
  readonly client: number;
  readonly subscription: Subscription;
  readonly endpoint: Endpoint;
  readonly localAddress: string;
  /** Called with the delay of each event, from being sent to being received, in ms. */
  readonly delayed?: ((ms: number) => void) | undefined;
}

interface Message {
  readonly type: string;
  readonly payload?: {
    readonly data?: { readonly event: Update | null } | null;
    readonly extensions?: {
      readonly cursor?: unknown;
      readonly recovered?: unknown;
      readonly gap?: { readonly topic: string; readonly at: number };
    };
  };
}

/** The client connects again after a random time below this limit, which doubles with each refusal. */
const JITTER_MS = 500;
const MOST_DOUBLINGS = 4;

/** The number of characters of a message that a fault shows. */
const SHOWN = 120;

/** A client whose subscription resumes from its cursor after each lost connection. */
export class ResumingClient implements Receiver {
  readonly account: ClientAccount;
  readonly #options: Options;
  #connection: RawClient | undefined;
  #cursor: string | null = null;
  /** Whether the server has greeted the client on the current connection. */
  #isGreeted = false;
  #wasGreeted = false;
  #refusals = 0;
  #isAway = true;
  #cutsAgain = false;

  constructor(options: Options) {
    this.#options = options;
    this.account = new ClientAccount(options.client, options.subscription);
  }

  get subscription(): Subscription {
    return this.#options.subscription;
  }

  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  connect(): void {
    this.#isAway = false;
    this.#connection = new RawClient(this.#options.endpoint, this.#options.localAddress, this);
  }

  /**
   * Breaks the connection, and connects again soon. Messages that have not been read by now are lost.
   *
   * @param again cuts the next connection too, right after its greeting
   */
  cut({ again = false } = {}): void {
    this.#connection?.destroy();
    this.#connection = undefined;
    this.#isGreeted = false;
    this.#cutsAgain = again;
  }

  /** Breaks the connection, and stays away until `connect`. */
  leave(): void {
    this.#isAway = true;
    this.cut();
  }

  acknowledged(): void {
    this.#refusals = 0;
    const payload = operationOf(this.subscription, this.#cursor);
    this.#connection?.send({ id: '1', type: 'subscribe', payload });
    if (this.subscription.isStock === true) this.#subscribed(false);
  }

  text(bytes: Buffer, start: number, end: number): void {
    if (this.#connection === undefined) return;
    const text = bytes.toString('utf8', start, end);
    const { type, payload = {} } = JSON.parse(text) as Message;
    const { data, extensions = {} } = payload;
    const event = data?.event;
    if (type === 'ping') this.#connection?.send({ type: 'pong' });
    else if (type !== 'next') this.account.fault(`expected results, got ${text.slice(0, SHOWN)}`);
    else if (extensions.recovered !== undefined) this.#greet(extensions.recovered, extensions.cursor, text);
    else if (!this.#isGreeted) this.account.fault(`expected a greeting first, got ${text.slice(0, SHOWN)}`);
    else if (extensions.gap !== undefined) this.account.gap();
    else if (event == null) this.account.fault(`expected an event, got ${text.slice(0, SHOWN)}`);
    else this.#event(event, extensions.cursor, text);
  }

  ended(ending: string): void {
    this.#isGreeted = false;
    this.#connection = undefined;
    if (this.#isAway) return;
    if (ending === 'refused') this.#refusals = Math.min(this.#refusals + 1, MOST_DOUBLINGS);
    setTimeout(() => this.#isAway || this.connect(), Math.random() * JITTER_MS * 2 ** this.#refusals);
  }

  #greet(recovered: unknown, cursor: unknown, text: string): void {
    const fault = (expected: string): void =>
      this.account.fault(`expected ${expected}, got ${text.slice(0, SHOWN)}`);
    if (this.#isGreeted) fault('one greeting');
    if (typeof recovered !== 'boolean') {
      fault('recovered to be true or false');
      return;
    }
    if (recovered && typeof cursor !== 'string') fault('a cursor of a subscription that is recovered');
    const isNew = !this.#wasGreeted;
    if (isNew && recovered !== isKept(this.subscription.field)) {
      fault(`recovered: ${isKept(this.subscription.field)} of a new subscription`);
    }
    // A subscription without a cursor is new to the server, which can't know that the client has missed events.
    const hasCursor = this.#cursor !== null;
    this.#cursor = typeof cursor === 'string' ? cursor : null;
    this.#subscribed(recovered && hasCursor);
    if (this.#cutsAgain) this.cut();
  }

  /** @param recovered whether the subscription goes on behind the events that the client has got before */
  #subscribed(recovered: boolean): void {
    if (this.#wasGreeted) this.account.returned(recovered);
    this.#isGreeted = true;
    this.#wasGreeted = true;
  }

  #event({ channel, n, sent_at }: Update, cursor: unknown, text: string): void {
    this.account.event(channel, n);
    this.#options.delayed?.(Date.now() - sent_at);
    if (typeof cursor === 'string') this.#cursor = cursor;
    else if (this.#cursor !== null) {
      this.account.fault(`expected an event with a cursor, got ${text.slice(0, SHOWN)}`);
    }
  }
}
