import { integer, type Setting } from '../types.ts';

/** Limits for one connection in a second. A connection that has been quiet may use five times as much at once. */
export const RATE_SETTINGS = {
  MESSAGES_PER_SECOND: integer(1, 1_000_000, {
    default: 200,
    help: 'Messages of one connection that are handled in a second; further ones wait, and the gateway stops reading that socket meanwhile. A connection that has been quiet may send five times as many at once.',
  }),
  SUBSCRIBES_PER_SECOND: integer(1, 1_000_000, {
    default: 50,
    help: 'Messages `subscribe` of one connection that are handled in a second: subscriptions, queries and mutations. Further ones wait in the same way.',
  }),
  LOOP_MS_PER_SECOND: integer(1, 1_000, {
    default: 50,
    help: 'Milliseconds of the event loop that the messages of one connection, and its queries and mutations, may take in a second; the same holds as for MESSAGES_PER_SECOND.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
