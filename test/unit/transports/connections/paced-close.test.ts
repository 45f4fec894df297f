import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Living } from '../../../helpers/living.ts';
import { range } from '../../../helpers/numbers.ts';
import { PacedClose } from '../../../../src/transports/connections/paced-close.ts';

interface One {
  readonly name: number;
}

/** On a clock that stands still until `advance`. */
function setUp(perSecond: number, random: () => number = () => 0) {
  let now = 0;
  let sleeping: { until: number; wake: () => void } | undefined;
  const closed: One[] = [];
  const clock = {
    now: () => now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        signal.addEventListener('abort', wake);
        sleeping = { until: now + ms, wake };
      }),
    random,
  };
  const paced = new PacedClose<One>({ close: (one) => void closed.push(one), perSecond, clock });
  /** Lets that much time pass, sleep by sleep. */
  const advance = async (ms: number): Promise<void> => {
    const end = now + ms;
    for (; sleeping !== undefined && sleeping.until <= end; await setImmediate()) {
      const { until, wake } = sleeping;
      sleeping = undefined;
      now = until;
      wake();
    }
    now = end;
  };
  const add = (from: number, to: number): One[] => {
    const added = range(from, to).map((name) => ({ name }));
    for (const one of added) paced.add(one);
    return added;
  };
  return { paced, closed, advance, add };
}

for (const perSecond of [1, 7, 100, 150, 2_000]) {
  test(`connections are closed at no more than ${perSecond} a second, and at little less`, async () => {
    const { closed, advance, add } = setUp(perSecond);
    add(0, 4 * perSecond);
    await advance(999);
    assert.ok(closed.length <= perSecond, `${closed.length} in the first second`);
    await advance(2_000);
    assert.ok(closed.length <= 3 * perSecond, `${closed.length} in three seconds`);
    assert.ok(closed.length >= 2.7 * perSecond, `${closed.length} in three seconds`);
    await advance(2_000);
    assert.equal(new Set(closed).size, 4 * perSecond, 'each once');
  });
}

test('the rate holds across gaps: connections that are added when the last ones have just been closed wait', async () => {
  const { closed, advance, add } = setUp(10);
  add(0, 1);
  await advance(0);
  assert.equal(closed.length, 1);
  add(1, 3);
  await advance(99);
  assert.equal(closed.length, 1);
  await advance(1);
  assert.equal(closed.length, 2);
});

test('a second gap adds only connections that do not wait yet', async () => {
  const { paced, closed, advance, add } = setUp(100);
  const first = add(0, 10);
  await advance(45);
  assert.equal(closed.length, 5);
  for (const one of first) if (!closed.includes(one)) paced.add(one);
  add(10, 12);
  await advance(10_000);
  assert.equal(closed.length, 12);
  assert.equal(new Set(closed).size, 12);
});

test('a connection that has closed by itself is passed over without a pause', async () => {
  const { paced, closed, advance, add } = setUp(100);
  const all = add(0, 10);
  for (const one of all.slice(0, 8)) paced.remove(one);
  await advance(10);
  assert.deepEqual(new Set(closed), new Set(all.slice(8)));
});

test('the order is random, and so is the time of the first close', async () => {
  // Where the first is put, when it is closed, and where the others are put.
  const chances = [0, 0.99, 0.5, 0.3, 0.9];
  const { closed, advance, add } = setUp(10, () => chances.shift() ?? 0);
  add(0, 4);
  await advance(0);
  assert.deepEqual(closed, []);
  await advance(100);
  assert.equal(closed.length, 1);
  await advance(1_000);
  const order = closed.map(({ name }) => name);
  assert.deepEqual(order, [3, 0, 1, 2]);
});

test('after a stop nothing is closed that waited or is added', async () => {
  const { paced, closed, advance, add } = setUp(10);
  add(0, 5);
  await advance(0);
  assert.equal(closed.length, 1);
  paced.stop();
  await setImmediate();
  add(5, 9);
  await advance(10_000);
  assert.equal(closed.length, 1);
});

test('connections that have closed by themselves are not held until their turn', async () => {
  const { paced, closed, advance, add } = setUp(1);
  const gone = new Living();
  add(0, 1_000).forEach((one) => {
    paced.remove(one);
    gone.add(one);
  });
  add(1_000, 1_010);
  await advance(0);
  assert.equal(closed.length, 1);
  assert.equal(await gone.count(), 0);
});
