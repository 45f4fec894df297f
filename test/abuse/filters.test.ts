import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { range } from '../helpers/numbers.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { connectSome, untilNumber } from './arrange.ts';

const CONNECTIONS = 20;
const SUBSCRIPTIONS = 200;
const EVENTS = 3_000;
const EVENTS_AT_ONCE = 10;

/**
 * It is 0.4 where two other test runs have most of the machine, and was 2.5 while each filter was asked; delays are as long as the
 * machine is busy.
 */
const CPU_MS_PER_EVENT = 1.5;

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
  const cpu = await gateway.metric('process_cpu_seconds_total');
  for (let n = 0; n < EVENTS; n += EVENTS_AT_ONCE) {
    const some = range(n + 1, n + 1 + EVENTS_AT_ONCE);
    await Promise.all(some.map((each) => gateway.postEvent('items', { id: `${each}`, n: each, price: 10 })));
  }
  await untilNumber(honest, EVENTS);
  const spent = (await gateway.metric('process_cpu_seconds_total')) - cpu;
  const perEvent = (spent * 1_000) / EVENTS;
  t.diagnostic(`CPU per event: ${perEvent.toFixed(2)} ms`);
  assert.ok(perEvent < CPU_MS_PER_EVENT, `${perEvent} ms of a processor for each event`);
});
