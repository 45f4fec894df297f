import { choice, flag, origins, port, text, type Setting } from '../types.ts';

/** Ports, pages, and what is logged. */
export const SERVER_SETTINGS = {
  GRAPH: text({
    default: 'examples/auction',
    help: 'Folder of the graph: `schema.graphql` and, if it needs code, `graph.ts` or `graph.js`.',
  }),
  PORT: port({ default: 4000, help: 'Port for browsers: GraphQL over WebSocket and POST at `/graphql`.' }),
  ADMIN_PORT: port({
    default: 4001,
    help: 'Port for Kubernetes and Prometheus: `/livez`, `/readyz`, `/metrics`; and `/debug/`, for this machine only.',
  }),
  GRAPHIQL: flag({ default: true, help: 'Serve GraphiQL to browsers at `/`.' }),
  ORIGINS: origins({
    default: [],
    help: "Origins whose pages may connect. Not set: only pages of the gateway's own host.",
  }),
  LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    help: 'Lowest level that is logged.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
