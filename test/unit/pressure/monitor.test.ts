import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { Metrics } from '../../../src/metrics.ts';
import { PressureMonitor } from '../../../src/pressure/monitor.ts';
import { SAMPLE_MS, type Sample } from '../../../src/pressure/policy.ts';
import { PressureLevel } from '../../../src/pressure/pressure-level.ts';
import { readableLog } from '../ingest/parts.ts';

const NONE: Sample = { heap: 0, memory: 0, resident: 0, waiting: 0, loop: 0 };

/** A monitor of a process that is as full as a test says. */
async function setUp(t: TestContext, { calm = 4 } = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  /** `held`: sockets that may be shed. */
  const pod = { used: 0, garbage: 0, collections: 0, sheds: 0, held: 5, loop: 0, fails: '' };
  const level = new PressureLevel();
  const metrics = new Metrics();
  const { log, lines } = readableLog();
  const monitor = new PressureMonitor({
    thresholds: [0.75, 0.8, 0.85],
    sample: () => ({ ...NONE, memory: pod.used + pod.garbage, loop: pod.loop }),
    collectGarbage: () => {
      pod.collections += 1;
      pod.garbage = 0;
      return pod.fails === 'collection' ? Promise.reject(new Error('no inspector')) : Promise.resolve();
    },
    shed: () => {
      pod.sheds += 1;
      if (pod.fails === 'shed') throw new Error('no socket');
      return pod.held;
    },
    level,
    metrics,
    log,
  });
  monitor.start();
  t.after(() => monitor.stop());
  const samples = async (count: number): Promise<void> => {
    for (let sample = 0; sample < count; sample += 1) {
      t.mock.timers.tick(SAMPLE_MS);
      await nextTurn();
    }
  };
  await samples(calm);
  return { pod, level, metrics, lines, samples };
}

test('the level goes up and down with what is measured, and each change is logged once', async (t) => {
  const { pod, level, metrics, lines, samples } = await setUp(t, { calm: 10 });
  assert.deepEqual([level.notReady(), level.pause(), lines.length], [undefined, undefined, 0]);
  pod.used = 0.82;
  await samples(3);
  assert.match(level.notReady() ?? '', /pressure, level 2/);
  assert.match(level.pause() ?? '', /pressure/);
  assert.equal((await metrics.pressureLevel.get()).values[0]?.value, 2);
  pod.used = 0.3;
  await samples(20);
  assert.deepEqual([level.notReady(), level.pause()], [undefined, undefined]);
  const told = lines.map(({ msg }) => msg);
  assert.deepEqual(told, [
    'pressure: nothing is consumed, and new connections are refused',
    'pressure: new connections are refused, and the pod is not ready',
    'no pressure: all is as usual',
  ]);
  const { values } = await metrics.pressure.get();
  const shares = Object.fromEntries(values.map(({ labels, value }) => [labels.source, value]));
  assert.deepEqual(shares, { ...NONE, memory: 0.3 });
});

test('no socket is shed for what turns out to be garbage', async (t) => {
  const { pod, level, samples } = await setUp(t);
  Object.assign(pod, { used: 0.5, garbage: 0.4 });
  await samples(30);
  assert.deepEqual([pod.collections >= 1, pod.sheds, level.notReady()], [true, 0, undefined]);
});

test('sockets are shed again and again, a second apart at least, until there is room', async (t) => {
  const { pod, samples } = await setUp(t);
  pod.used = 0.9;
  await samples(1);
  assert.equal(pod.sheds, 1);
  await samples(3);
  assert.equal(pod.sheds, 1);
  await samples(5);
  assert.equal(pod.sheds, 3);
  pod.used = 0.5;
  await samples(20);
  assert.equal(pod.sheds, 3);
});

test('sockets are shed where each collection ends just below the end of the pause, and garbage just above', async (t) => {
  const { pod, samples } = await setUp(t);
  Object.assign(pod, { used: 0.745, garbage: 0.06 });
  for (let second = 0; second < 8 && pod.sheds === 0; second += 1) {
    await samples(4);
    pod.garbage = 0.02;
  }
  assert.equal(pod.sheds, 1);
});

test('what is consumed after a pause in vain is shed within a second, however rarely garbage is collected by then', async (t) => {
  const { pod, samples } = await setUp(t);
  Object.assign(pod, { used: 0.86, held: 0 });
  await samples(4 * 60);
  const { sheds } = pod;
  Object.assign(pod, { used: 0.93, held: 5 });
  await samples(4);
  assert.equal(pod.sheds, sheds + 1);
});

test('garbage is collected less and less often while the level lasts, and never without pressure', async (t) => {
  const { pod, samples } = await setUp(t, { calm: 500 });
  assert.equal(pod.collections, 0);
  pod.used = 0.77;
  await samples(4 * 600);
  assert.ok(pod.collections >= 10 && pod.collections <= 30, `${pod.collections}`);
});

test('nothing is collected for a slow event loop, and at once when there is much in memory too', async (t) => {
  const { pod, level, samples } = await setUp(t);
  pod.loop = 0.9;
  await samples(100);
  assert.match(level.notReady() ?? '', /level 1/);
  assert.equal(pod.collections, 0);
  pod.used = 0.76;
  await samples(1);
  assert.equal(pod.collections, 1);
});

for (const fails of ['collection', 'shed']) {
  test(`a ${fails} that fails is logged, and the pod goes on to relieve the pressure`, async (t) => {
    const { pod, lines, samples } = await setUp(t);
    Object.assign(pod, { used: 0.9, fails });
    await samples(1);
    assert.equal(pod.collections, 1);
    const failures = lines.map(({ msg }) => msg).filter((msg) => /failed/.test(String(msg)));
    assert.deepEqual(failures, ['the pod failed to relieve the pressure, and tries again later']);
    const { sheds } = pod;
    pod.fails = '';
    await samples(8);
    assert.deepEqual([pod.collections, pod.sheds], [2, sheds + 1]);
  });
}
