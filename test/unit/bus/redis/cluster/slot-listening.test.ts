import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterNode } from '../../../../../src/bus/redis/cluster/cluster-node.ts';
import type { Cluster, SlotFollower } from '../../../../../src/bus/redis/cluster/cluster.ts';
import { SlotListening } from '../../../../../src/bus/redis/cluster/slot-listening.ts';
import { createLog } from '../../../../../src/log.ts';
import { systemClock } from '../../../../../src/support/clock.ts';

/** Refuses all that is joined. */
const connection = {
  bytesRead: 0,
  join: () => Promise.reject(new Error('Connection is closed.')),
  forget: () => undefined,
};
const node = {
  listening: { connection, isReady: true, follow: () => undefined, unfollow: () => undefined },
} as unknown as ClusterNode;
const cluster = {
  follow: (follower: SlotFollower) => follower.moveTo(node),
  unfollow: () => undefined,
  look: () => undefined,
} as unknown as Cluster;

test('many channels that are joined while a slot moves make Node.js warn of nothing', async (t) => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const log = createLog('silent');
  const listening = new SlotListening({ cluster, slot: 1, clock: systemClock, log });
  listening.start({ onReady: () => undefined, onLost: () => undefined });
  const joins = Array.from({ length: 20 }, (_, n) => listening.join(`c${n}`, () => undefined));
  const settled = Promise.allSettled(joins);
  // All of them wait for the next attempt by then.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  listening.stop();
  assert.ok((await settled).every(({ status }) => status === 'rejected'));
  assert.deepEqual(warnings, []);
});

/** A node whose joins wait until they are acknowledged. */
class WaitingNode {
  readonly joined: string[][] = [];
  readonly #waiting: (() => void)[] = [];
  readonly node = {
    listening: {
      isReady: true,
      connection: {
        bytesRead: 0,
        join: (channels: ReadonlyMap<string, unknown>) => {
          this.joined.push([...channels.keys()]);
          return new Promise<void>((resolve) => this.#waiting.push(resolve));
        },
        forget: () => undefined,
      },
      follow: () => undefined,
      unfollow: () => undefined,
    },
  } as unknown as ClusterNode;

  acknowledge(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

test('a channel is joined again on a node from which its slot has gone, and come back, before the join was acknowledged', async (t) => {
  const [one, other] = [new WaitingNode(), new WaitingNode()];
  let slot: SlotFollower | undefined;
  const moving = {
    follow: (follower: SlotFollower) => {
      slot = follower;
      follower.moveTo(one.node);
    },
    unfollow: () => undefined,
    look: () => undefined,
  } as unknown as Cluster;
  const log = createLog('silent');
  const listening = new SlotListening({ cluster: moving, slot: 1, clock: systemClock, log });
  listening.start({ onReady: () => undefined, onLost: () => undefined });
  t.after(() => listening.stop());
  const join = listening.join('c', () => undefined);
  await new Promise(setImmediate);
  slot?.moveTo(other.node);
  slot?.moveTo(one.node);
  one.acknowledge();
  await new Promise(setImmediate);
  assert.deepEqual(one.joined, [['c'], ['c']]);
  one.acknowledge();
  await join;
  assert.deepEqual(one.joined, [['c'], ['c']]);
});
