import assert from 'node:assert/strict';
import test from 'node:test';
import { latest, masterOf, viewOf } from '../../../../../src/bus/redis/cluster/view.ts';

const ASKED = { host: 'asked', port: 1 };

const replies = (epoch: number, slots: unknown, state = 'ok') => [
  { value: `cluster_state:${state}\r\ncluster_slots_ok:1\r\ncluster_current_epoch:${epoch}\r\n` },
  { value: slots },
];

test('a view names the master of each slot, and none of a slot that no node serves', () => {
  const slots = [
    [0, 99, ['one', 7000, 'id', []], ['replica', 7001, 'id', []]],
    [200, 200, ['two', 7000, 'id', []]],
  ];
  const view = viewOf(replies(3, slots), ASKED);
  assert.deepEqual(masterOf(view, 0), { host: 'one', port: 7000 });
  assert.deepEqual(masterOf(view, 99), { host: 'one', port: 7000 });
  assert.equal(masterOf(view, 100), undefined);
  assert.deepEqual(masterOf(view, 200), { host: 'two', port: 7000 });
});

test('a node that does not know its own host is at the one that was asked', () => {
  for (const host of [null, '', '?']) {
    const view = viewOf(replies(1, [[0, 16_383, [host, 7000, 'id']]]), ASKED);
    assert.deepEqual(masterOf(view, 5), { host: 'asked', port: 7000 });
  }
});

test('a node that finds the cluster down, or refuses to tell, has no view', () => {
  assert.throws(() => viewOf(replies(1, [], 'fail'), ASKED), /the cluster is down/);
  assert.throws(() => viewOf([{ error: new Error('NOPERM no rights') }], ASKED), /NOPERM/);
});

test('of several views the one with the highest epoch counts', () => {
  const views = [4, 11, 9].map((epoch) => viewOf(replies(epoch, []), ASKED));
  assert.equal(latest(views)?.epoch, 11);
  assert.equal(latest([]), undefined);
});
