import { integer, type Setting, addresses, flag, optionalPath } from '../types.ts';

/** Thresholds at which a pod takes less work on, and gives some up, so that it is not killed for its memory. */
export const PRESSURE_SETTINGS = {
  PRESSURE: flag({
    default: true,
    help: 'Measure heap, memory, event-loop delay and bytes that wait for sockets, and act before a limit is reached: refuse, then pause, then shed.',
  }),
  PRESSURE_REFUSE_PERCENT: integer(1, 100, {
    default: 75,
    help: 'From this share of a limit on, the pod is not ready, and refuses new WebSockets with 503.',
  }),
  PRESSURE_PAUSE_PERCENT: integer(1, 100, {
    default: 80,
    help: 'From this share on it consumes nothing, for 30 seconds at most, and `POST /events` answers 503.',
  }),
  PRESSURE_SHED_PERCENT: integer(1, 100, {
    default: 85,
    help: 'From this share on it closes the sockets for which most bytes wait, some at a time, with 1013.',
  }),
  MEMORY_LIMIT_MB: integer(0, 16_777_216, {
    default: 0,
    help: "Memory that the pod may use, all workers together. 0: the container's limit, or else the machine's memory.",
  }),
} as const satisfies Record<string, Setting<unknown>>;

/** Limits for each client, and for all clients of a pod together. docs/operations/limits.md says what a client sees at each. */
export const CAPS_SETTINGS = {
  MAX_CONNECTIONS: integer(1, 1_000_000, {
    default: 15_000,
    help: 'Most WebSockets of a pod; one more is refused with 503.',
  }),
  MAX_CONNECTIONS_PER_ADDRESS: integer(1, 1_000_000, {
    default: 1_000,
    help: 'Most WebSockets of a pod with clients of one address (IPv6: of one /64 network); one more is refused with 503. Has no effect without `TRUSTED_PROXIES` or `PROXY_PROTOCOL`: the address may be a balancer’s, and so everyone’s.',
  }),
  MAX_CONNECTIONS_PER_VIEWER: integer(1, 1_000_000, {
    default: 50,
    help: 'Most WebSockets that one viewer may have in a process; one more is closed with 1013. Has no effect without `VIEWER_ID`.',
  }),
  MAX_HANDSHAKES: integer(1, 1_000_000, {
    default: 3_000,
    help: 'Most WebSockets of a pod that are not yet acknowledged: `connection_init` has not come, or `authenticate` is running. As many requests by POST and GET may wait to be identified, for room or for their turn. One more of either is refused with 503.',
  }),
  CONNECTIONS_PER_SECOND: integer(0, 1_000_000, {
    default: 500,
    help: 'New WebSockets that a pod accepts in a second; more are refused with 503. 0: no limit.',
  }),
  CONNECTIONS_PER_SECOND_PER_ADDRESS: integer(0, 1_000_000, {
    default: 100,
    help: 'New WebSockets that a pod accepts in a second from clients of one address; more are refused with 503. 0: no limit. Has no effect without `TRUSTED_PROXIES` or `PROXY_PROTOCOL`.',
  }),
  MAX_OPERATIONS_PER_VIEWER: integer(1, 1_000_000, {
    default: 1_000,
    help: 'Most subscriptions and queries that one viewer may have at once in a process; one more is refused. Has no effect without `VIEWER_ID`.',
  }),
  MAX_OPERATIONS_PER_POD: integer(1, 10_000_000, {
    default: 100_000,
    help: 'Most subscriptions and queries that all connections of a pod may have at once; one more is refused.',
  }),
  MAX_CHANNELS_PER_CONNECTION: integer(1, 1_000_000, {
    default: 2_000,
    help: 'Most channels of one connection, over all its subscriptions. A channel that it has left counts for `CHANNEL_LINGER_MS` more; one of a topic with history until `ttl_seconds` after the connection asked for it, if Redis keeps it. A subscription that needs more is refused.',
  }),
  MAX_CHANNELS_PER_POD: integer(1, 10_000_000, {
    default: 50_000,
    help: 'Most channels that a pod is subscribed to. For one more it gives up a channel without subscribers (see `CHANNEL_LINGER_MS`), the oldest first; if there is none, it refuses. As many channels of topics with history may be kept, including those left less than `ttl_seconds` ago.',
  }),
  MAX_VARIABLES_BYTES_PER_CONNECTION: integer(1_024, 1_073_741_824, {
    default: 262_144,
    help: 'Most memory that the variables of all subscriptions of one connection may take, estimated from their text. A subscription past it is refused.',
  }),
  MAX_VARIABLES_BYTES_PER_POD: integer(65_536, 1_073_741_824, {
    default: 33_554_432,
    help: 'Most memory that the variables of all subscriptions of a pod may take, equal ones counted once. A subscription past it is refused.',
  }),
  TRUSTED_PROXIES: addresses({
    default: undefined,
    help: 'Addresses and networks (`10.0.0.0/8`) of balancers and proxies before the gateway: the client is the last address of `X-Forwarded-For` that is none of them. `none`: clients connect directly. Not set: it is not known whose addresses connect, and caps per address are off.',
  }),
  PROXY_PROTOCOL: flag({
    default: false,
    help: 'Every connection to `PORT` begins with a header of the PROXY protocol, version 1 or 2, which names the client; others are closed. With `TRUSTED_PROXIES` it is believed only from those.',
  }),
  VIEWER_ID: optionalPath({
    default: undefined,
    help: 'Where a viewer has what identifies it, as `id` or `user.id`, for the caps per viewer. Not set, or nothing there: they don’t apply.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

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

/** Limits for one operation. An operation past a limit gets an error with code, limit and value. */
export const COST_SETTINGS = {
  MAX_TOKENS: integer(100, 100_000, {
    default: 4_000,
    help: 'Most tokens of one document.',
  }),
  MAX_FIELDS: integer(1, 100_000, {
    default: 2_000,
    help: 'Most fields of all operations of one document together, fragments expanded.',
  }),
  MAX_DEPTH: integer(1, 1_000, {
    default: 50,
    help: 'Most levels of fields of one operation.',
  }),
  MAX_ALIASES: integer(0, 100_000, {
    default: 500,
    help: 'Most aliases of one operation, fragments expanded.',
  }),
  MAX_ROOT_FIELDS: integer(1, 100_000, {
    default: 100,
    help: 'Most root fields of one query or mutation.',
  }),
  MAX_DIRECTIVES: integer(0, 100_000, {
    default: 500,
    help: 'Most directives of one operation, fragments expanded.',
  }),
  MAX_COST: integer(1, 1_000_000_000, {
    default: 10_000,
    help: 'Highest cost of one operation by the `@cost` and `@listSize` of the schema.',
  }),
  MAX_COMPARISONS: integer(100, 10_000_000, {
    default: 40_000,
    help: 'Most steps in which the validation of one document looks for fields that can not be merged; each takes about 1 µs.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

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
  COMPRESSION_MIN_BYTES: integer(0, 1_048_576, {
    default: 0,
    help: 'Results of at least so many bytes are compressed for clients that offer `permessage-deflate`, or accept `gzip`, [once for all subscribers](../guides/compression.md); 0: none.',
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
