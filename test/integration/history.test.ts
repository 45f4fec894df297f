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
