import { selfSigned } from '../helpers/certificate.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import type { Scope } from '../helpers/scope.ts';
import { startGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { header(name: String!): String version: String }
  type Subscription { bid: Bid @event(topic: "bids") }
  type Bid { n: Int }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: (_params, { headers }) => ({ names: Object.keys(headers), ...headers }),
    resolvers: { Query: {
      header: (_root, { name }, { viewer }) => viewer[name],
      version: (_root, _args, { viewer }) => viewer.names.filter((name) => name.startsWith(':')).join(),
    } },
  });
`;

/** A gateway with a certificate of its own. */
export async function startWithTls(
  scope: Scope,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const { certificateFile, keyFile } = await selfSigned(scope);
  const files = { 'schema.graphql': SCHEMA, 'graph.js': GRAPH };
  return startGraph(scope, files, { TLS_CERT: certificateFile, TLS_KEY: keyFile, ...settings });
}
