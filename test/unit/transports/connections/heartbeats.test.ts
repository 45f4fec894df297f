import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Heartbeats } from '../../../../src/transports/connections/heartbeats.ts';
import { range } from '../../../helpers/numbers.ts';
import { holdTime } from '../../turns.ts';

/** Connections that have connected at the same time, and how often each was checked. */
function setUp(t: TestContext, { seconds, count }: { seconds: number; count: number }) {
  const tick = holdTime(t);
  const heartbeats = new Heartbeats(seconds);
  const checks = range(0, count).map(() => 0);
  const connections = checks.map((_, index) => ({
    id: (index + 1).toString(36),
    checkHeartbeat: () => void (checks[index] = (checks[index] ?? 0) + 1),
  }));
  for (const connection of connections) heartbeats.add(connection);
  heartbeats.start();
  t.after(() => heartbeats.stop());
  const total = (): number => checks.reduce((sum, times) => sum + times, 0);
  return { heartbeats, checks, connections, total, tick };
}

test('connections that have connected at the same time are checked a few at a time, and each once in the interval', (t) => {
  const { checks, total, tick } = setUp(t, { seconds: 3, count: 1_200 });
  for (const turn of range(1, 13)) {
    tick(250);
    assert.equal(total(), turn * 100);
  }
  assert.deepEqual(new Set(checks), new Set([1]));
  for (const _ of range(0, 12)) tick(250);
  assert.deepEqual(new Set(checks), new Set([2]));
});

test('so it is with a long interval', (t) => {
  const { checks, tick } = setUp(t, { seconds: 3_600, count: 1_200 });
  for (const _ of range(0, 120)) tick(15_000);
  assert.equal(checks.filter((times) => times === 1).length, 600);
  for (const _ of range(0, 120)) tick(15_000);
  assert.deepEqual(new Set(checks), new Set([1]));
});

test('between two checks of a connection lies the interval, also where all others have left meanwhile', (t) => {
  const { heartbeats, checks, connections, tick } = setUp(t, { seconds: 3, count: 1_200 });
  for (const _ of range(0, 12)) tick(250);
  for (const connection of connections.slice(0, -1)) heartbeats.remove(connection);
  const last = (): number | undefined => checks.at(-1);
  const at: number[] = [];
  for (const turn of range(1, 25)) {
    const before = last();
    tick(250);
    if (last() !== before) at.push(turn);
  }
  assert.equal(at.length, 2);
  assert.equal((at[1] ?? 0) - (at[0] ?? 0), 12);
});

test('without an interval no connection is checked', (t) => {
  const { total, tick } = setUp(t, { seconds: 0, count: 10 });
  tick(60_000);
  assert.equal(total(), 0);
});

/** Timers that come late. @returns has the next one come, and tells the time then: ms */
function lateTimers(t: TestContext, lateMs: () => number) {
  let now = 0;
  let next: { callback: () => void; ms: number } | undefined;
  t.mock.method(performance, 'now', () => now);
  t.mock.method(globalThis, 'setTimeout', (callback: () => void, ms: number) => {
    next = { callback, ms };
    return { unref: () => undefined };
  });
  return (): number => {
    assert.ok(next);
    now += next.ms + lateMs();
    next.callback();
    return now;
  };
}

test('turns that come late do not make the interval longer', (t) => {
  const beat = lateTimers(t, () => 100);
  new Heartbeats(3).start();
  const times = range(0, 120).map(beat);
  assert.ok((times.at(-1) ?? 0) <= 30_000 + 100, `ten intervals took ${times.at(-1)} ms`);
});

test('a process that was frozen catches up with a second of it', (t) => {
  let late = 60_000;
  const beat = lateTimers(t, () => late);
  new Heartbeats(25).start();
  const thawed = beat();
  late = 0;
  const times = range(0, 8).map(() => beat() - thawed);
  assert.equal(times.filter((ms) => ms < 100).length, 5);
});

test('with a short interval a client has most of it for its answer, also where the process was frozen', (t) => {
  let late = 60_000;
  const beat = lateTimers(t, () => late);
  const heartbeats = new Heartbeats(1);
  let now = 0;
  const checkedAt: number[] = [];
  for (const id of ['1', '2', '3', '4'])
    heartbeats.add({ id, checkHeartbeat: () => void (id === '1' && checkedAt.push(now)) });
  heartbeats.start();
  for (const _ of range(0, 12)) {
    now = beat();
    late = 0;
  }
  const between = checkedAt.slice(1).map((at, index) => at - (checkedAt[index] ?? 0));
  assert.ok(between.length > 0 && between.every((ms) => ms >= 500), between.join());
});
