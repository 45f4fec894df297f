import assert from 'node:assert/strict';
import { testNeeding } from '../helpers/services.ts';
import { accountWithRedis, kill } from './delivery-account.ts';

const test = testNeeding('kafka', 'redis-server');

for (const [title, history] of [
  [
    'while Redis closes all connections, subscribers of a topic with history get every event, and no gap',
    '{}',
  ],
  [
    'while Redis closes all connections, subscribers of a topic without history get every event, and no gap',
    'null',
  ],
] as const) {
  test(`200 subscribers on two pods: ${title}`, async (t) => {
    const account = await accountWithRedis(t, { history }, kill('pubsub', 'normal'));
    assert.deepEqual([account.delivered, account.gaps], [account.owed, 0]);
  });
}

test('a pod that was cut off from Redis for more events than are kept tells its subscribers of a gap, and goes on', async (t) => {
  const account = await accountWithRedis(t, { history: '{ size: 5 }' }, async ({ pods, relays, flow }) => {
    relays[1]?.refuse();
    await pods[1]?.untilMetric('sluice_bus_outages_total', 1);
    await flow(100);
    relays[1]?.admit();
  });
  assert.equal(account.gaps, 100);
  assert.notEqual(account.toldOf.length, 0);
});
