import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Explanation } from '../../src/explain/explanation.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { TRANSPORT_CLIENTS, type Asked, type Asking } from '../helpers/transport-client.ts';

const SCHEMA = `
  type Query { me: String }
  type Subscription {
    bid(auction_id: ID): Bid @event(topic: "bids", key: "auction_id")
    large(min: Int): Bid @event(topic: "bids") @filter(where: { amount: { value: { gte: "$min" } } })
    mine: Bid @event(topic: "bids") @filter(where: { bidder: { eq: "$viewer.id" } })
    secret: Bid @event(topic: "bids") @auth(requires: "admin")
    own: Bid @event(topic: "bids") @auth(owner: { field: "bidder", is: "id" })
    latest: Bid @event(topic: "bids") @delivery(onSlow: CONFLATE, conflateBy: "auction_id")
    sale: Sale @event(topic: "sales")
  }
  type Bid { n: Int auction_id: ID bidder: String amount: Amount must: String! text: String who: String }
  type Amount { value: Int }
  type Sale { n: Int }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ user }) => ({ id: user ?? 'ann' }),
    resolvers: { Bid: { who: (_bid, _args, { viewer }) => viewer.id } },
  });
`;

export const gatewayOf = sharedGateway(async (scope) =>
  startGateway(scope, {
    GRAPH: await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH }),
    SOCKET_BUFFER_BYTES: '262144',
    PING_SECONDS: '0',
  }),
);

interface Listed {
  readonly rows: readonly { readonly id: string }[];
}

export async function idsOf({ adminUrl }: GatewayProcess): Promise<string[]> {
  const { rows } = (await (await fetch(`${adminUrl}/debug/connections`)).json()) as Listed;
  return rows.map(({ id }) => id);
}

/** A client that is subscribed, and the id of its connection. */
export async function subscribed(
  t: TestContext,
  gateway: GatewayProcess,
  asked: Asked,
): Promise<{ asking: Asking; id: string }> {
  const before = await idsOf(gateway);
  const subscribers = await gateway.metric('sluice_subscribers');
  const asking = TRANSPORT_CLIENTS.webSocket.ask(t, gateway, asked);
  await gateway.untilMetric('sluice_subscribers', subscribers + 1);
  const id = (await idsOf(gateway)).find((one) => !before.includes(one));
  assert.ok(id !== undefined);
  return { asking, id };
}

let published = -1;

/** @returns its offset */
export async function publish(gateway: GatewayProcess, topic: string, event: object): Promise<number> {
  const response = await fetch(`${gateway.httpUrl}/events/${topic}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(event),
  });
  assert.equal(response.status, 202);
  if (topic === 'bids') published += 1;
  return published;
}

export async function answerOf(
  gateway: GatewayProcess,
  connection: string,
  topic: string,
  offset: number,
): Promise<Explanation> {
  const query = new URLSearchParams({ connection, topic, partition: '0', offset: `${offset}` });
  const response = await fetch(`${gateway.adminUrl}/debug/explain?${query}`);
  const body = (await response.json()) as Explanation;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

export const BID = { auctionId: '7', bidder: 'bob', amount: { value: 42 }, must: 'be' };

/** A client that has stopped to read: the event before the last one has given way to it. @returns the last one's offset */
export async function skipping(
  t: TestContext,
  gateway: GatewayProcess,
): Promise<{ asking: Asking; id: string; offset: number }> {
  const { asking, id } = await subscribed(t, gateway, { query: 'subscription { latest { n text } }' });
  await answerOf(gateway, id, 'bids', 0);
  let offset = await publish(gateway, 'bids', BID);
  await asking.untilPayloads(1);
  asking.pause();
  const text = 'x'.repeat(20_000);
  while ((await gateway.metric('sluice_left_out_results_total')) < 2) {
    offset = await publish(gateway, 'bids', { ...BID, text, n: offset + 1 });
  }
  return { asking, id, offset };
}
