import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ClusterNode } from '../../../../../src/bus/redis/cluster/cluster-node.ts';
import type { Cluster, SlotFollower } from '../../../../../src/bus/redis/cluster/cluster.ts';
import type { ConnectionListener } from '../../../../../src/bus/redis/connection.ts';
import { Followed } from '../../../../../src/bus/redis/cluster/followed.ts';
import { SlotListening } from '../../../../../src/bus/redis/cluster/slot-listening.ts';
import { createLog } from '../../../../../src/log.ts';
import { systemClock } from '../../../../../src/support/clock.ts';

type Join = (channels: ReadonlyMap<string, unknown>) => Promise<void>;

const noop = (): void => undefined;

function nodeOf(join: Join, fence = () => Promise.resolve()): ClusterNode {
  // `reconnect` is called if the process stands still for so long that the node counts as stalled.
  const connection = { bytesRead: 0, join, fence, forget: noop, reconnect: noop };
  const listening = { connection, isReady: true, follow: () => undefined, unfollow: () => undefined };
  return { listening } as unknown as ClusterNode;
}

/** Listens to a slot that is at this node, until the test moves it. */
function listenAt(node: ClusterNode, onLost = (): void => undefined) {
  const followers: SlotFollower[] = [];
  const follow = (follower: SlotFollower): void => {
    followers.push(follower);
    follower.moveTo(node);
  };
  const cluster = { follow, unfollow: () => undefined, look: () => undefined } as unknown as Cluster;
  const log = createLog('silent');
  const listening = new SlotListening({ cluster, slot: 1, clock: systemClock, log });
  listening.start({ onReady: () => undefined, onLost });
  return { listening, moveTo: (next: ClusterNode) => followers.forEach((each) => each.moveTo(next)) };
}

test('many channels that are joined while a slot moves make Node.js warn of nothing', async (t) => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const { listening } = listenAt(nodeOf(() => Promise.reject(new Error('Connection is closed.'))));
  const joins = Array.from({ length: 20 }, (_, n) => listening.join(`c${n}`, () => undefined));
  const settled = Promise.allSettled(joins);
  // All of them wait for the next attempt by then.
  await setImmediate();
  await setImmediate();
  listening.stop();
  assert.ok((await settled).every(({ status }) => status === 'rejected'));
  assert.deepEqual(warnings, []);
});

test('a channel is joined again on a node from which its slot has gone, and come back, before the join was acknowledged', async (t) => {
  const joined: string[][] = [];
  const waiting: (() => void)[] = [];
  const one = nodeOf((channels) => {
    joined.push([...channels.keys()]);
    return new Promise<void>((resolve) => waiting.push(resolve));
  });
  const { listening, moveTo } = listenAt(one);
  t.after(() => listening.stop());
  const join = listening.join('c', () => undefined);
  await setImmediate();
  moveTo(nodeOf(() => new Promise(() => undefined)));
  moveTo(one);
  for (const acknowledge of waiting.splice(0)) acknowledge();
  await setImmediate();
  assert.deepEqual(joined, [['c'], ['c']]);
  for (const acknowledge of waiting) acknowledge();
  await join;
  assert.deepEqual(joined, [['c'], ['c']]);
});

const silent = (): Promise<never> => new Promise(() => undefined);

test('what a node is asked is asked of the next one, if the slot moves before it has answered', async (t) => {
  const { listening, moveTo } = listenAt(nodeOf(silent, silent));
  t.after(() => listening.stop());
  const asked = Promise.all([listening.join('c', () => undefined), listening.fence()]);
  await setImmediate();
  const joined: string[] = [];
  moveTo(nodeOf(async (channels) => void joined.push(...channels.keys())));
  await asked;
  assert.deepEqual(joined, ['c']);
});

test('a channel that is left because its slot moves is left on the node that it was joined on', async (t) => {
  const left: string[] = [];
  const nodes = ['former', 'next'].map((name) => {
    const connection = {
      start: ({ onReady }: ConnectionListener) => onReady(),
      join: async () => undefined,
      forget: () => undefined,
      leave: (channel: string) => left.push(`${name} ${channel}`),
    };
    const listening = new Followed(connection as never);
    listening.start();
    return { listening } as unknown as ClusterNode;
  });
  const [former, next] = nodes as [ClusterNode, ClusterNode];
  const { listening, moveTo } = listenAt(former, () => listening.leave('c'));
  t.after(() => listening.stop());
  await listening.join('c', () => undefined);
  await setImmediate();
  moveTo(next);
  assert.deepEqual(left, ['former c']);
});

test('channels that a node has unsubscribed are joined again there, as their slot may be back before anyone looks', async (t) => {
  const joined: string[][] = [];
  const acknowledged: (() => void)[] = [];
  const connection = {
    start: ({ onReady }: ConnectionListener) => onReady(),
    bytesRead: 0,
    join: (channels: ReadonlyMap<string, unknown>) => {
      joined.push([...channels.keys()]);
      return new Promise<void>((resolve) => acknowledged.push(resolve));
    },
    forget: noop,
    reconnect: noop,
  };
  const acknowledge = async (): Promise<void> => {
    for (const resolve of acknowledged.splice(0)) resolve();
    await setImmediate();
  };
  const followed = new Followed(connection as never);
  followed.start();
  let losses = 0;
  const { listening } = listenAt({ listening: followed } as unknown as ClusterNode, () => (losses += 1));
  t.after(() => listening.stop());
  const joining = Promise.all(['a', 'b'].map((channel) => listening.join(channel, noop)));
  await setImmediate();
  await acknowledge();
  await joining;
  joined.length = 0;
  // A node that has moved another slot has unsubscribed none of these.
  followed.moved(() => true);
  assert.deepEqual([joined, losses], [[], 0]);
  followed.moved((channel) => channel !== 'b');
  assert.deepEqual([joined, losses], [[['a', 'b']], 1]);
  followed.moved(() => false);
  await acknowledge();
  assert.deepEqual(joined, [
    ['a', 'b'],
    ['a', 'b'],
  ]);
  await acknowledge();
  assert.deepEqual([joined.length, losses], [2, 1]);
});
