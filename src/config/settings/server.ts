import {
  choice,
  flag,
  hosts,
  optionalAddress,
  optionalText,
  origins,
  port,
  text,
  type Setting,
  integer,
  workers,
} from '../types.ts';

/** Settings for the life of connections and processes, and for worker processes. */
export const PROCESS_SETTINGS = {
  CONNECTION_MAX_AGE_SECONDS: integer(0, 31_536_000, {
    default: 0,
    help: 'A socket is closed with 1012 at an age between four fifths of this and this; its client reconnects, maybe to a younger pod. 0: never.',
  }),
  DRAIN_DELAY_SECONDS: integer(0, 3_600, {
    default: 5,
    help: 'After SIGTERM, how long new sockets are still accepted while the pod is not ready: as long as load balancers need to notice that.',
  }),
  DRAIN_SECONDS: integer(0, 3_600, {
    default: 20,
    help: 'After that, open sockets are closed with 1012, spread over this time. A pod needs a grace period longer than both.',
  }),
  WORKERS: workers({
    default: 1,
    help: 'Processes that share the port, each a small pod; `auto`: as many as there are processors. More than one needs Kafka or Redis.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

/** Settings for ports, pages and the log. */
export const SERVER_SETTINGS = {
  GRAPH: text({
    default: 'examples/auction',
    help: 'Folder of the graph: its schema, `schema.graphql` or several files that end so, and, if it needs code, `graph.ts` or `graph.js`. Not set: the folder `graph` or the current one, if it holds a `.graphql` file; else the bundled auction.',
  }),
  WATCH_GRAPH: flag({
    default: false,
    help: 'Reload the graph when files in its folder change, as SIGHUP does.',
  }),
  PORT: port({
    default: 4000,
    help: 'Port for browsers: GraphQL over WebSocket, POST and GET at `/graphql`.',
  }),
  ADMIN_PORT: port({
    default: 4001,
    help: 'Port for Kubernetes and Prometheus: `/livez`, `/readyz`, `/metrics`; and `/debug/`, for this machine only.',
  }),
  BIND: optionalAddress({
    default: undefined,
    help: 'Address that `PORT` is opened on. Not set: all addresses of the machine.',
  }),
  ADMIN_BIND: optionalAddress({
    default: undefined,
    help: 'Address that `ADMIN_PORT` is opened on. Not set: all addresses of the machine.',
  }),
  TLS_CERT: optionalText({
    default: undefined,
    help: 'File with the certificate of `PORT` and those of authorities in between (PEM), read again when it changes. With it, `PORT` speaks [TLS and HTTP/2](../operations/tls.md).',
  }),
  TLS_KEY: optionalText({
    default: undefined,
    help: 'File with the key of `TLS_CERT` (PEM, not encrypted).',
  }),
  GRAPHIQL: flag({ default: true, inProduction: false, help: 'Serve GraphiQL to browsers at `/`.' }),
  HOSTS: hosts({
    default: 'loopback',
    inProduction: ['*'],
    help: 'Hosts that requests to `PORT` may name in `Host`; `*`: any. A peer on this machine may always name this machine (`localhost`), and with `loopback` must: pages of other sites can’t reach a developer’s gateway then (DNS rebinding).',
  }),
  ORIGINS: origins({
    default: [],
    help: "Origins whose pages may connect. Not set: only pages of the gateway's own host.",
  }),
  LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    help: 'Lowest level that is logged.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
