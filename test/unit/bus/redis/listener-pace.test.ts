import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ListenerPace } from '../../../../src/bus/redis/listener-pace.ts';
import { stillClock } from '../../support/still-clock.ts';

const MB = 1024 * 1024;

/** A publisher among some pods that listen, whose answers the test gives. */
function setUp({ listeners = 2, all }: { listeners?: number; all?: Set<ListenerPace> } = {}) {
  const asked: number[] = [];
  const state = { listeners };
  const { clock, wakeAll, sleeps } = stillClock();
  const stopping = new AbortController();
  const ask = (question: number): Promise<number> => {
    asked.push(question);
    return state.listeners < 0 ? Promise.reject(new Error('lost')) : Promise.resolve(state.listeners);
  };
  const pace = new ListenerPace({ ask, clock, stopping: stopping.signal }, all);
  /** Publishes so much. @returns whether it may, as it turns out in this turn and later */
  const publish = async (bytes: number) => {
    const outcome = { isAdmitted: false };
    void pace.admit(bytes).then(() => (outcome.isAdmitted = true));
    await setImmediate();
    return outcome;
  };
  const answer = async (question = asked.at(-1) ?? 0) => {
    pace.heard(question);
    await setImmediate();
  };
  return { pace, asked, state, wakeAll, sleeps, stopping, publish, answer };
}

test('nobody is asked before many bytes are on their way', async () => {
  const { publish, asked } = setUp();
  for (let n = 0; n < 4; n += 1) assert.equal((await publish(MB)).isAdmitted, true);
  assert.deepEqual(asked, []);
});

test('past the bound nothing is published before all pods have answered', async () => {
  const { publish, answer, asked } = setUp();
  await publish(4 * MB);
  const more = await publish(MB);
  assert.deepEqual(asked, [1]);
  assert.equal(more.isAdmitted, false);
  await answer();
  assert.equal(more.isAdmitted, false, 'one of two has answered');
  await answer();
  assert.equal(more.isAdmitted, true);
  // Two publishers may have 8 MB each on their way.
  assert.equal((await publish(7 * MB)).isAdmitted, true);
  assert.equal((await publish(MB)).isAdmitted, false);
});

test('what is larger than the bound goes alone', async () => {
  const { publish, answer } = setUp({ listeners: 1 });
  assert.equal((await publish(64 * MB)).isAdmitted, true);
  const small = await publish(1);
  assert.equal(small.isAdmitted, false);
  await answer();
  assert.equal(small.isAdmitted, true);
});

test('the more pods there are, the less each publishes together', async () => {
  const { pace, publish, answer, state } = setUp({ listeners: 1 });
  assert.equal(pace.mostTogether, 4 * MB);
  state.listeners = 8;
  await publish(16 * MB);
  await publish(MB);
  for (let n = 0; n < 8; n += 1) await answer();
  assert.equal(pace.mostTogether, 2 * MB);
});

test('a pod that does not answer holds others up once, and is waited for again when it does', async () => {
  const { publish, answer, wakeAll, asked } = setUp();
  await publish(16 * MB);
  const first = await publish(16 * MB);
  await answer();
  assert.equal(first.isAdmitted, false);
  wakeAll();
  await setImmediate();
  assert.equal(first.isAdmitted, true);
  const second = await publish(16 * MB);
  await answer();
  assert.equal(second.isAdmitted, true, 'the silent one is not waited for');
  await answer(1);
  const third = await publish(16 * MB);
  assert.deepEqual(asked, [1, 2, 3]);
  await answer();
  assert.equal(third.isAdmitted, false);
  await answer();
  assert.equal(third.isAdmitted, true);
});

test('a pod that nobody listens to, or that has no connection, waits for no answer', async () => {
  for (const listeners of [0, -1]) {
    const { publish } = setUp({ listeners });
    await publish(16 * MB);
    assert.equal((await publish(16 * MB)).isAdmitted, true);
  }
});

test('a stop ends the wait', async () => {
  const { publish, stopping } = setUp();
  await publish(16 * MB);
  const waiting = await publish(MB);
  stopping.abort();
  await setImmediate();
  assert.equal(waiting.isAdmitted, true);
});

test('links that share a connection share the bound', async () => {
  const all = new Set<ListenerPace>();
  const [one, other] = [setUp({ all, listeners: 1 }), setUp({ all, listeners: 1 })];
  await one.publish(3 * MB);
  const waiting = await other.publish(2 * MB);
  assert.deepEqual([one.asked, other.asked], [[1], []], 'only where something is on its way');
  assert.equal(waiting.isAdmitted, false);
  await one.answer();
  assert.equal(waiting.isAdmitted, true);
});
