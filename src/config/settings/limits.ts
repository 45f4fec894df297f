import { integer, type Setting } from '../types.ts';

/** Limits for subscriptions and executions. */
export const LIMITS_SETTINGS = {
  MAX_CHANNELS: integer(1, 10_000, {
    default: 100,
    help: 'Most channels that one subscription may listen to.',
  }),
  MAX_WAITING_EVENTS: integer(1, 100_000, {
    default: 100,
    help: 'Most events of one subscriber that may wait for asynchronous resolvers at once; it skips further events, which are counted, and gets an error. Others of its group get them.',
  }),
  EXECUTE_CONCURRENCY: integer(1, 1_000_000, {
    default: 200,
    help: 'Most asynchronous executions that run at once in a pod, of events, queries and mutations; the others wait, and clients take turns: viewers with an id, else known addresses, else connections. One may have as many as are free: half, if it is alone.',
  }),
  EXECUTE_TIMEOUT_MS: integer(1, 3_600_000, {
    default: 10_000,
    help: 'How long an asynchronous execution of an event, a query or a mutation, or `authenticate`, may take; then its clients get an error instead, or the connection is refused.',
  }),
  DOCUMENT_CACHE_SIZE: integer(1, 1_000_000, {
    default: 1_000,
    help: 'Number of parsed and validated documents kept.',
  }),
  DOCUMENT_CACHE_CHARACTERS: integer(1_000, 100_000_000, {
    default: 1_000_000,
    help: 'Most characters of query text that these documents have together. A parsed document takes about 80 bytes of memory for each character.',
  }),
  MAX_OPERATIONS: integer(1, 1_000_000, {
    default: 200,
    help: 'Most subscriptions and queries that one connection may have at once, over WebSocket or HTTP; as many requests may wait besides. One more is refused.',
  }),
  MAX_PAYLOAD_BYTES: integer(1_024, 16_777_216, {
    default: 65_536,
    help: 'Largest WebSocket message, POST body or URL of a GET accepted from a client. A URL has at most 16 KB, with all headers.',
  }),
  SOCKET_BUFFER_BYTES: integer(16_384, 1_073_741_824, {
    default: 1_048_576,
    help: 'Bytes that may wait for one slow socket before it is closed with 1013.',
  }),
  INIT_TIMEOUT_MS: integer(1, 600_000, {
    default: 3_000,
    help: 'Time that a client has to send `connection_init` before its connection is closed with 4408.',
  }),
  PING_SECONDS: integer(0, 3_600, {
    default: 25,
    help: 'Interval between pings to each socket; a socket that has not answered the last ping is terminated. 0: no pings.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
