import { isUtf8 } from 'node:buffer';
import { constants, inflateRawSync } from 'node:zlib';
import type { RawData } from 'ws';
import { isNestedDeeper, MAX_NESTING } from '../../support/json-nesting.ts';
import { DISCONNECTS, type Disconnect } from '../connections/disconnect.ts';

/** A message of graphql-transport-ws. Only this much is checked: it is an object with a type that clients send. */
export type ClientMessage = Readonly<Record<string, unknown>> & { readonly type: string };

/** What a client may send. graphql-ws throws on the types that only a server sends. */
const TYPES: ReadonlySet<unknown> = new Set(['connection_init', 'ping', 'pong', 'subscribe', 'complete']);

/**
 * Reads a message that the client has compressed.
 *
 * @param maxBytes that it may become
 * @returns the message, or why the connection has to be closed
 */
export function inflated(data: RawData, maxBytes: number): Buffer | Disconnect {
  try {
    const options = { maxOutputLength: maxBytes, finishFlush: constants.Z_SYNC_FLUSH };
    return inflateRawSync(data as Buffer, options);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === 'ERR_BUFFER_TOO_LARGE' ? DISCONNECTS.tooLarge : DISCONNECTS.notText;
  }
}

/**
 * Parses a message. A binary frame with text counts as a text frame, as in the server of graphql-ws.
 *
 * @param isUnchecked whether it may be no text: ws checks text frames of clients that do not offer compression
 * @returns the message, or why the connection has to be closed
 */
export function parseClientMessage(data: RawData, isUnchecked: boolean): ClientMessage | Disconnect {
  return parseMessage(data, isUnchecked, TYPES);
}

/**
 * The same for another subprotocol.
 *
 * @param types what its clients may send
 */
export function parseMessage(
  data: RawData,
  isUnchecked: boolean,
  types: ReadonlySet<unknown>,
): ClientMessage | Disconnect {
  // `ws` hands over one Buffer unless told otherwise.
  const bytes = data as Buffer;
  if (isUnchecked && !isUtf8(bytes)) return DISCONNECTS.notText;
  if (isNestedDeeper(bytes, MAX_NESTING)) return DISCONNECTS.badMessage;
  try {
    const message: unknown = JSON.parse(bytes.toString());
    return isClientMessage(message, types) ? message : DISCONNECTS.badMessage;
  } catch {
    return DISCONNECTS.badMessage;
  }
}

function isClientMessage(message: unknown, types: ReadonlySet<unknown>): message is ClientMessage {
  return typeof message === 'object' && message !== null && types.has((message as { type?: unknown }).type);
}

/** The message that an operation has failed through a fault of the gateway or the graph. */
export function failureOf(id: string): string {
  return JSON.stringify({ id, type: 'error', payload: [{ message: 'Internal server error' }] });
}
