import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startBackends } from '../../examples/auction/backends.ts';
import { runCli, startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { post } from './graph-gateway.ts';

/** In the sources, seen from the compiled test. */
const FOLDER = path.join(import.meta.dirname, '../../../examples/auction');

const SUBSCRIBERS = 1_000;

/** The default of how many a connection may have. */
const PER_SOCKET = 200;

/** By a bidder whom the back ends know. */
async function placeBid(gateway: GatewayProcess, bidId: string): Promise<void> {
  const bidder = { bidderId: 'bidder-1', paddleNumber: 104, displayName: 'A. Okafor' };
  const amount = { value: 900_000, currency: 'EUR' };
  await gateway.postEvent('bids', { bidId, auctionId: 'auction-1', amount, bidder });
}

const bids = (selection: string): string =>
  `subscription { bid_placed(auction_id: "auction-1") { bid_id ${selection} } }`;

/** Waits for the bid in one subscription. */
async function bidIn(socket: RawSocket, id: string, bidId: string): Promise<unknown> {
  type Next = { data: { bid_placed: { bid_id: string } } };
  const next = await socket.until(
    (message) => message.id === id && (message.payload as Next).data.bid_placed.bid_id === bidId,
  );
  return (next.payload as Next).data.bid_placed;
}

test('a field joined from a back end for 1,000 subscribers is one request per event, and no answer is kept for the next event', async (t) => {
  const backends = await startBackends();
  t.after(() => backends.close());
  // The bundled graph without its simulator, over back ends that count their requests.
  const settings = { SIMULATOR: 'false', PING_SECONDS: '0', AUCTION_BACKEND_URL: backends.url };
  const gateway = await startGateway(t, settings);
  const before = backends.requests;
  const subscriptions: [RawSocket, string][] = [];
  while (subscriptions.length < SUBSCRIBERS) {
    const socket = await connectAndInit(t, gateway.graphqlUrl);
    for (let n = 0; n < PER_SOCKET; n += 1) {
      socket.subscribe(String(n), bids('bidder_profile { city auctions_won }'));
      subscriptions.push([socket, String(n)]);
    }
  }
  await gateway.untilMetric('sluice_subscribers', SUBSCRIBERS);

  for (const [index, bidId] of ['first', 'second'].entries()) {
    await placeBid(gateway, bidId);
    for (const [socket, id] of subscriptions) {
      assert.deepEqual(await bidIn(socket, id, bidId), {
        bid_id: bidId,
        bidder_profile: { city: 'London', auctions_won: 9 },
      });
    }
    assert.equal(backends.requests - before, index + 1);
    assert.equal(await gateway.metric('sluice_executions_total'), index + 1);
  }
});

test('alone, the example bids in each auction that the query lists, over back ends of its own that keep neither serve nor check from ending', async (t) => {
  const gateway = await startGateway(t, {});
  type Auctions = { data: { auctions: { auction_id: string }[] } };
  const { data } = (await post(gateway, { query: '{ auctions { auction_id } }' })) as Auctions;
  assert.ok(data.auctions.length > 1);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  for (const { auction_id } of data.auctions) {
    socket.subscribe(auction_id, `subscription { bid_placed(auction_id: "${auction_id}") { bid_id } }`);
  }
  for (const { auction_id } of data.auctions) {
    await socket.until(({ id, type }) => id === auction_id && type === 'next');
  }
  socket.subscribe('1', bids('bidder_profile { city }'));
  await gateway.untilMetric('sluice_subscribers', data.auctions.length + 1);
  await placeBid(gateway, 'bid');
  assert.deepEqual(await bidIn(socket, '1', 'bid'), { bid_id: 'bid', bidder_profile: { city: 'London' } });
  assert.equal(await gateway.stop(), 0);

  const { code, stdout } = await runCli(t, ['check', FOLDER]);
  assert.equal(code, 0, stdout);
});
