import assert from 'node:assert/strict';
import { testNeeding } from '../helpers/services.ts';
import { accountOf, flow, kill, testHistoryOutlasts } from './history-faults.ts';

const test = testNeeding('kafka', 'redis-server');

testHistoryOutlasts('Redis closes all connections', kill('pubsub', 'normal'));

test('a pod that was cut off from Redis for more events than are kept tells its subscribers of a gap, and goes on', async (t) => {
  const account = await accountOf(t, '{ size: 5 }', async (_t, stream) => {
    stream.relays[1]?.refuse();
    await stream.pods[1]?.untilMetric('sluice_bus_outages_total', 1);
    await flow(stream, 100);
    stream.relays[1]?.admit();
  });
  const { lostAndNotTold, doubled, reordered, gaps, told } = account;
  assert.deepEqual(
    { lostAndNotTold, doubled, reordered, gaps },
    { lostAndNotTold: 0, doubled: 0, reordered: 0, gaps: 100 },
  );
  assert.notEqual(told, 0);
});
