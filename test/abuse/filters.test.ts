import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { range } from '../helpers/numbers.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { connectSome, untilNumber } from './arrange.ts';
import { arrivalsAt, floodWith, quantile } from './event-flood.ts';

const CONNECTIONS = 20;
const SUBSCRIPTIONS = 200;
const FLOOD = { perSecond: 1_000, count: 5_000 };

test('4,000 subscriptions whose filters reject all events hold up no other client', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(t, { GRAPH: folder });
  for (const [index, socket] of (await connectSome(t, gateway, CONNECTIONS)).entries()) {
    for (const n of range(0, SUBSCRIPTIONS)) {
      const min_price = 1_000_000 + index * SUBSCRIPTIONS + n;
      socket.subscribe(
        `${n}`,
        'subscription ($min_price: Int) { expensive_item(min_price: $min_price) { n } }',
        { min_price },
      );
    }
    await socket.roundTrip();
  }
  const honest = await connectAndInit(t, gateway.graphqlUrl);
  honest.subscribe('1', 'subscription { item { n } }');
  await gateway.untilMetric('sluice_subscribers', CONNECTIONS * SUBSCRIPTIONS + 1);
  const arrivals = arrivalsAt(honest);
  await gateway.metric('nodejs_eventloop_lag_max_seconds');
  const sent = await floodWith(t, gateway, 'items', (n) => ({ id: `${n}`, n, price: 10 }), FLOOD);
  await untilNumber(honest, FLOOD.count);
  const delays = [...sent].map(([n, at]) => (arrivals.get(n) ?? Infinity) - at);
  const [p50, p99] = [quantile(delays, 0.5), quantile(delays, 0.99)];
  const still = (await gateway.metric('nodejs_eventloop_lag_max_seconds')) * 1_000;
  t.diagnostic(
    `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, the loop stood still for ${still.toFixed(0)} ms`,
  );
  assert.ok(p99 < 1_000, `p99 ${p99} ms`);
});
