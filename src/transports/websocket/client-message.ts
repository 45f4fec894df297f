import type { RawData } from 'ws';
import { isNestedDeeper } from '../../support/json-nesting.ts';

/** A message of graphql-transport-ws, as far as it has been looked at: an object with a type that clients send. */
export type ClientMessage = Readonly<Record<string, unknown>> & { readonly type: string };

/** What a client may send. graphql-ws throws on the types that only a server sends. */
const TYPES: ReadonlySet<unknown> = new Set(['connection_init', 'ping', 'pong', 'subscribe', 'complete']);

/** What is nested deeper overflows the stack where it is written again: in the pong to a ping, say. */
const MAX_NESTING = 500;

/** @returns undefined for anything else */
export function parseClientMessage(data: RawData, isBinary: boolean): ClientMessage | undefined {
  // `ws` hands over one Buffer unless told otherwise.
  const bytes = data as Buffer;
  if (isBinary || isNestedDeeper(bytes, MAX_NESTING)) return undefined;
  try {
    const message: unknown = JSON.parse(bytes.toString());
    return isClientMessage(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function isClientMessage(message: unknown): message is ClientMessage {
  return typeof message === 'object' && message !== null && TYPES.has((message as { type?: unknown }).type);
}
