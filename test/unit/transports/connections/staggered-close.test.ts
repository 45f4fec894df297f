import assert from 'node:assert/strict';
import test from 'node:test';
import { closeStaggered } from '../../../../src/transports/connections/staggered-close.ts';

/** Closes so many connections over that time, on a clock on which only sleeping takes time. */
async function close(
  count: number,
  overMs: number,
  random: () => number,
  during: (open: Set<number>, controller: AbortController) => void = () => undefined,
) {
  let now = 0;
  const open = new Set(Array(count).keys());
  const closedAt: number[] = [];
  const controller = new AbortController();
  await closeStaggered({
    open: () => [...open],
    close: (one) => {
      open.delete(one);
      closedAt.push(now);
    },
    overMs,
    clock: {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
        during(open, controller);
      },
      random,
    },
    signal: controller.signal,
  });
  return { closedAt, left: open.size, took: now };
}

/** How many connections were closed at each time. */
const sizes = (times: readonly number[]): number[] =>
  [...new Set(times)].map((time) => times.filter((other) => other === time).length);

for (const chance of [0, 0.999]) {
  test(`all connections are closed within the time, an equal share in each step (chance ${chance})`, async () => {
    const { closedAt, left, took } = await close(100, 10_000, () => chance);
    assert.equal(left, 0);
    assert.deepEqual(sizes(closedAt), Array(20).fill(5));
    assert.ok(took <= 10_000, `took ${took} ms`);
    assert.ok((closedAt.at(-1) ?? 0) >= 9_500, 'the last interval is used');
  });
}

test('each step falls at random into an interval of its own', async () => {
  const chances = [0, 0.9, 0.1, 0.5];
  const { closedAt } = await close(4, 2_000, () => chances.shift() ?? 0);
  assert.deepEqual(closedAt, [0, 950, 1_050, 1_750]);
});

test('connections that close by themselves make the steps smaller, not earlier', async () => {
  const { closedAt, left } = await close(
    100,
    10_000,
    () => 0.5,
    (open) => {
      for (const one of open) if (one >= 50) open.delete(one);
    },
  );
  assert.equal(left, 0);
  assert.equal(closedAt.length, 50);
  assert.ok(Math.max(...sizes(closedAt)) <= 3);
});

test('fewer connections than steps are closed one by one, and there is no wait for steps without connections', async () => {
  const { closedAt, took } = await close(3, 60_000, () => 0);
  assert.deepEqual(closedAt, [0, 500, 1_000]);
  assert.equal(took, 1_000);
  assert.equal((await close(0, 60_000, () => 0.5)).took, 0);
});

test('without any time, all connections are closed at once', async () => {
  const { closedAt, took } = await close(100, 0, () => 0.5);
  assert.equal(closedAt.length, 100);
  assert.equal(took, 0);
});

test('an abort in between ends the steps', async () => {
  const { left, took } = await close(
    100,
    10_000,
    () => 0.5,
    (open, controller) => open.size <= 50 && controller.abort(),
  );
  assert.equal(left, 50);
  assert.ok(took < 10_000);
});
