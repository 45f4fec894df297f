import { addresses, flag, integer, optionalPath, type Setting } from '../types.ts';

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
