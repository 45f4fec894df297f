import assert from 'node:assert/strict';
import { testNeeding } from '../helpers/services.ts';
import { accountOf, flow, kill, testHistoryOutlasts } from './history-faults.ts';

const test = testNeeding('kafka', 'redis-server');

testHistoryOutlasts('one pod is cut off from Redis', async (_t, stream) => {
  stream.relays[1]?.refuse();
  await stream.pods[1]?.untilMetric('sluice_bus_outages_total', 1);
  await flow(stream, 200);
  stream.relays[1]?.admit();
});

testHistoryOutlasts('the connections of one pod are half open', async (_t, { relays, pods }) => {
  relays[1]?.freeze();
  await pods[1]?.untilMetric('sluice_bus_outages_total', 1);
});

test('200 subscribers of a topic without history, on two pods: while Redis closes the connections that listen, gaps are told', async (t) => {
  const account = await accountOf(t, 'null', kill('pubsub'));
  assert.notEqual(account.gaps, 0);
  assert.equal(account.lostAndNotTold, 0);
});
