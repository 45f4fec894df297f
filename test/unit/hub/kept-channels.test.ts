import assert from 'node:assert/strict';
import test from 'node:test';
import { KeptChannels } from '../../../src/hub/kept-channels.ts';
import { holdTimers } from '../turns.ts';
import { operation, setUp } from './parts.ts';
import type { JoinOptions } from '../../../src/hub/hub-options.ts';

/** ms. */
const TTL = 100;
const LINGER = 10;
const MAX = 3;

test('channels that have been left count as long as they linger and are kept, each by its own time', () => {
  let now = 0;
  const kept = new KeptChannels({ maxKept: MAX, lingerMs: LINGER }, () => now);
  for (const name of ['a', 'b']) kept.subscribed(name);
  kept.left('a', TTL);
  kept.left('b', 2 * TTL);
  assert.deepEqual([kept.room, kept.has('a'), kept.has('b'), kept.has('c')], [1, true, true, false]);
  kept.subscribed('a');
  assert.deepEqual([kept.room, kept.has('a')], [1, false], 'once, as it is subscribed to');
  now = 5;
  kept.left('a', TTL);
  now += LINGER + TTL - 1;
  assert.equal(kept.room, 1);
  now += 1;
  assert.deepEqual([kept.room, kept.has('a')], [2, false]);
  now = LINGER + 2 * TTL;
  assert.deepEqual([kept.room, kept.has('b')], [MAX, false]);
});

test('channels count for the client that has had them subscribed to last, as long as they are kept', () => {
  let now = 0;
  const kept = new KeptChannels({ maxKept: MAX, lingerMs: LINGER }, () => now);
  const rooms = () => ['ann', 'bob'].map((client) => kept.shares.roomOf(client, kept.room));
  kept.subscribed('a', 'ann');
  kept.subscribed('b', 'ann');
  kept.left('a', TTL, 'ann');
  assert.deepEqual([kept.room, rooms()], [1, [1, 1]]);
  kept.subscribed('c', 'ann');
  kept.left('c', TTL, 'ann');
  kept.left('b', TTL, 'ann');
  assert.deepEqual([kept.room, rooms()], [0, [0, 0]]);
  now = LINGER + TTL;
  assert.deepEqual([kept.room, rooms()], [MAX, [MAX, MAX]]);
});

test('channels that have been left are forgotten in time, though no client subscribes or leaves any more', (t) => {
  holdTimers(t);
  let now = 0;
  const kept = new KeptChannels({ maxKept: MAX, lingerMs: 0 }, () => now);
  const leave = (name: string, ttl: number): void => {
    kept.subscribed(name, 'ann');
    kept.left(name, ttl, 'ann');
  };
  for (const name of ['a', 'b', 'c', 'd']) leave(name, TTL);
  for (const name of ['e', 'f', 'g', 'h']) leave(name, 2 * TTL);
  /** Four more that count for her leave one less of ten. */
  const room = (): number => kept.shares.roomOf('ann', 10);
  const rooms = [room()];
  for (const until of [TTL, 2 * TTL]) {
    now = until;
    t.mock.timers.tick(10_000);
    rooms.push(room());
  }
  assert.deepEqual(rooms, [6, 7, 8]);
});

/** A hub of a topic of which channels are kept. */
function setUpKept() {
  let now = 0;
  const history = { size: 10, ttlMs: TTL, keepsAll: false };
  const streams = new Map([['bids', { history }]]) as never;
  const hub = setUp({ now: () => now, streams, maxKept: MAX, lingerMs: LINGER });
  const asked = operation();
  const join = (id: string, options?: JoinOptions) => hub.joinOrCode(asked, id, options);
  return {
    bus: hub.bus,
    join,
    subscribe: () => hub.join(asked, { id: '1' }),
    pass: (ms: number) => (now += ms),
  };
}

test('a pod refuses further channels with history while as many are kept as may be, and takes those again that are', () => {
  const { join, pass } = setUpKept();
  for (const id of ['1', '2', '3']) (join(id) as () => void)();
  assert.equal(join('4'), 'POD_FULL');
  const leave = join('2');
  assert.equal(typeof leave, 'function');
  pass(LINGER + TTL);
  assert.equal(typeof join('4'), 'function');
  assert.equal(typeof join('5'), 'function');
  assert.equal(join('6'), 'POD_FULL', 'one is subscribed to since');
  (leave as () => void)();
  assert.equal(join('6'), 'POD_FULL');
  pass(LINGER + TTL);
  assert.equal(typeof join('6'), 'function');
});

test('who subscribes is told of the channels that are kept since, and of no others', () => {
  const { join, pass } = setUpKept();
  const told: unknown[] = [];
  const keeping: JoinOptions = { keeps: (channels, ms) => void told.push([channels, ms]) };
  const leave = join('1', keeping);
  join('1', keeping);
  (leave as () => void)();
  assert.deepEqual(told, [[['bids:id=1'], LINGER + TTL]]);
  (join('2', keeping) as () => void)();
  join('2', keeping);
  assert.equal(told.length, 2);
  pass(1);
});

test('what a channel had carried is a copy when it is published again, also for those who subscribe while it is kept', () => {
  const { bus, subscribe, pass } = setUpKept();
  const carry = (n: number) => bus.carry('bids:id=1', n, { n });
  const [first] = [subscribe(), carry(1)];
  first.leave();
  pass(LINGER + TTL - 1);
  const [second] = [subscribe(), carry(1), carry(2)];
  assert.deepEqual(second.subscriber.numbers, [2]);
  second.leave();
  pass(LINGER + TTL);
  const [third] = [subscribe(), carry(2)];
  assert.deepEqual(third.subscriber.numbers, [2], 'it is forgotten');
});

test('channels of a topic without history do not count, and are taken while others do', () => {
  const { joinOrCode } = setUp({ maxKept: 0 });
  assert.equal(typeof joinOrCode(operation(), '1'), 'function');
});
