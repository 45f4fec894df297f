import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Explanation } from '../../src/explain/explanation.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';
import { sharedGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Query { me: String }
  type Subscription {
    bid(auction_id: ID): Bid @event(topic: "bids", key: "auction_id")
    large(min: Int): Bid @event(topic: "bids") @filter(where: { amount: { value: { gte: "$min" } } })
    secret: Bid @event(topic: "bids") @auth(requires: "admin")
    own: Bid @event(topic: "bids") @auth(owner: { field: "bidder", is: "id" })
    sale: Sale @event(topic: "sales")
  }
  type Bid {
    n: Int auction_id: ID bidder: String amount: Amount who: String auction: Auction @reference(fields: "auction_id")
  }
  type Auction @key(fields: "id") @entity(backend: "auctions") { id: ID name: String @fetched }
  type Amount { value: Int }
  type Sale { n: Int }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    backends: { auctions: { url: 'http://127.0.0.1:1/graphql', retries: 0 } },
    authenticate: ({ user }) => ({ id: user ?? 'ann' }),
    resolvers: { Bid: { who: (_bid, _args, { viewer }) => viewer.id } },
  });
`;

export const gatewayOf = sharedGraph({ 'schema.graphql': SCHEMA, 'graph.js': GRAPH });

export async function idsOf(gateway: GatewayProcess): Promise<string[]> {
  const { rows } = await gateway.debug<{ rows: readonly { id: string }[] }>('connections');
  return rows.map(({ id }) => id);
}

/** Subscribes a client. @returns the id of its connection */
export async function subscribed(t: TestContext, gateway: GatewayProcess, query: string): Promise<string> {
  const before = await idsOf(gateway);
  const subscribers = await gateway.metric('sluice_subscribers');
  TRANSPORT_CLIENTS.webSocket.ask(t, gateway, { query });
  await gateway.untilMetric('sluice_subscribers', subscribers + 1);
  const id = (await idsOf(gateway)).find((one) => !before.includes(one));
  assert.ok(id !== undefined);
  return id;
}

let published = -1;

/** @returns its offset */
export async function publish(gateway: GatewayProcess, event: object): Promise<number> {
  await gateway.postEvent('bids', event);
  return (published += 1);
}

export async function answerOf(
  gateway: GatewayProcess,
  connection: string,
  offset: number,
): Promise<Explanation> {
  const query = new URLSearchParams({ connection, topic: 'bids', partition: '0', offset: `${offset}` });
  const response = await fetch(`${gateway.adminUrl}/debug/explain?${query}`);
  const body = (await response.json()) as Explanation;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

export const BID = { auctionId: '7', bidder: 'bob', amount: { value: 42 } };
