import type { GatewayProcess } from '../helpers/gateway.ts';
import { range } from '../helpers/numbers.ts';
import type { Scope } from '../helpers/scope.ts';
import { startGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { me: String }
  type Subscription { bid: Bid @event(topic: "bids", history: { size: 100, ttl_seconds: 60 }) }
  type Bid { n: Int }
`;

export const QUERY = 'subscription { bid { n } }';

export const startBids = (
  scope: Scope,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> => startGraph(scope, { 'schema.graphql': SCHEMA }, settings);

export async function bids(gateway: GatewayProcess, from: number, to: number): Promise<void> {
  for (const n of range(from, to)) await gateway.postEvent('bids', { n });
}

/** The URL that a page gives to an EventSource. */
export const urlOf = ({ httpUrl }: { readonly httpUrl: string }, query = QUERY): string =>
  `${httpUrl}/graphql?${new URLSearchParams({ query })}`;
