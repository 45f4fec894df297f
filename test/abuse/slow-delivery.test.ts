import assert from 'node:assert/strict';
import test from 'node:test';
import { startGraph } from '../e2e/graph-gateway.ts';
import { upTo } from '../helpers/numbers.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { saidTo } from '../helpers/said.ts';

const SCHEMA = `
  type Subscription { dropped: Said @event(topic: "items") @delivery(onSlow: DROP_OLDEST) }
  type Said { n: Int text: String }
`;
const MOST_EVENTS = 4_000;
/** Several times the bound, after the kernel has taken what it takes. */
const ENOUGH_LEFT_OUT = 100;

test('a client that stops reading has the oldest events left out, is told how many, and gets the latest', async (t) => {
  const settings = { SOCKET_BUFFER_BYTES: '262144', PING_SECONDS: '0' };
  const gateway = await startGraph(t, { 'schema.graphql': SCHEMA }, settings);
  const reader = await connectAndInit(t, gateway.graphqlUrl);
  const stalled = await connectAndInit(t, gateway.graphqlUrl);
  for (const socket of [reader, stalled])
    socket.subscribe('1', 'subscription { dropped { n text } }', {}, { gaps: true });
  await gateway.untilMetric('sluice_subscribers', 2);
  stalled.webSocket.pause();
  let n = 0;
  const say = (): Promise<void> => gateway.postEvent('items', { n: (n += 1), text: 'x'.repeat(20_000) });
  while ((await gateway.metric('sluice_left_out_results_total')) < ENOUGH_LEFT_OUT) {
    assert.ok(n < MOST_EVENTS, 'expected events to be left out');
    for (let more = 0; more < 20; more += 1) await say();
  }
  await reader.until(() => saidTo(reader).at(-1)?.n === n);
  const all = saidTo(reader);
  assert.deepEqual(
    all.map((one) => [one.n, one.skipped]),
    upTo(n).map((each) => [each, 0]),
  );

  stalled.webSocket.resume();
  await stalled.until(() => saidTo(stalled).at(-1)?.n === n);
  const said = saidTo(stalled);
  const skipped = said.reduce((sum, one) => sum + one.skipped, 0);
  assert.equal(said.length + skipped, n);
  assert.ok(skipped >= ENOUGH_LEFT_OUT);
  assert.equal(await gateway.metric('sluice_closes_total'), 0);
  await say();
  await stalled.until(() => saidTo(stalled).at(-1)?.n === n);
  assert.equal(saidTo(stalled).at(-1)?.skipped, 0);
});
