import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';

const SCHEMA = `
  type Subscription {
    said: Said @event(topic: "items") @delivery(throttleMs: 600000, conflateBy: "key")
  }
  type Said { n: Int key: ID }
`;

test('a pod that is drained delivers what it holds, with the number of what it has left out, before it closes', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
  const gateway = await startGateway(t, { GRAPH: folder, DRAIN_DELAY_SECONDS: '0', DRAIN_SECONDS: '1' });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const query = 'subscription { said { n } }';
  socket.send({ id: '1', type: 'subscribe', payload: { query, extensions: { gaps: true } } });
  await gateway.untilMetric('sluice_subscribers', 1);
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
