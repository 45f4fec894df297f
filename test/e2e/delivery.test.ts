import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { saidTo } from '../helpers/said.ts';
import { startGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Subscription {
    said: Said @event(topic: "items") @delivery(throttleMs: 600000, conflateBy: "key")
    of(who: [ID!]): Said @event(topic: "items", key: "who") @delivery(throttleMs: 600000, conflateBy: "key")
    slow: Slow @event(topic: "others")
  }
  type Said { n: Int key: ID who: ID }
  type Slow { later: Int }
`;

/** Its resolver takes longer than any test. */
const CODE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({ resolvers: { Slow: { later: () => new Promise(() => undefined) } } });`;

async function subscribe(t: TestContext, gateway: GatewayProcess, query: string): Promise<RawSocket> {
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('1', query, {}, { gaps: true });
  await socket.roundTrip();
  return socket;
}

test('a pod that is drained delivers what it holds, with the number of what it has left out, before it closes', async (t) => {
  const gateway = await startGraph(t, { 'schema.graphql': SCHEMA }, { DRAIN_SECONDS: '1' });
  const socket = await subscribe(t, gateway, 'subscription { said { n } }');
  for (const [n, key] of ['a', 'b', 'a', 'a'].entries()) await gateway.postEvent('items', { n, key });
  await gateway.untilMetric('sluice_throttled_events_total', 1);
  const [{ code }] = await Promise.all([socket.closed, gateway.stop()]);
  assert.equal(code, 1012);
  const payloads = socket.messages.filter(({ type }) => type === 'next').map(({ payload }) => payload);
  assert.deepEqual(payloads, [
    { data: { said: { n: 0 } } },
    { data: { said: { n: 1 } } },
    { data: { said: { n: 3 } }, extensions: { gap: { skipped: 1 } } },
  ]);
});

test('what is held is delivered at a drain to all, however many there are, and though others wait for resolvers', async (t) => {
  const [clients, keys] = [60, 100];
  const files = { 'schema.graphql': SCHEMA, 'graph.js': CODE };
  const settings = { MAX_WAITING_EVENTS: '1000', EXECUTE_CONCURRENCY: '2', DRAIN_SECONDS: '1' };
  const gateway = await startGraph(t, files, settings);
  // Each has a group of its own.
  const sockets = await Promise.all(
    upTo(clients).map((n) => subscribe(t, gateway, `subscription { of(who: ["${n}", "all"]) { n key } }`)),
  );
  await subscribe(t, gateway, 'subscription { slow { later } }');
  await gateway.untilMetric('sluice_subscribers', clients + 1);
  for (let n = 0; n < 2; n += 1) await gateway.postEvent('others', { n });
  for (let n = 0; n <= keys; n += 1) await gateway.postEvent('items', { n, key: `k${n}`, who: 'all' });
  await Promise.all([...sockets.map(({ closed }) => closed), gateway.stop()]);
  for (const socket of sockets) {
    assert.deepEqual(
      saidTo(socket).map(({ n }) => n),
      range(0, keys + 1),
    );
  }
});
