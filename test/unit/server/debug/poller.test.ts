import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deferred } from '../../../helpers/deferred.ts';
import { pageScript } from '../page-script.ts';

interface Poller {
  isPaused: boolean;
  now(): Promise<void>;
}

class FakeDocument extends EventTarget {
  hidden = false;

  turn(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

/** A poller on virtual time. `runs` counts how often its task has run. */
async function polling(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const page = new FakeDocument();
  Object.assign(globalThis, { document: page });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const { Poller } = await pageScript<{ Poller: new (task: () => Promise<boolean>) => Poller }>(
    'debug/page/poller.js',
  );
  const state = { runs: 0, succeeds: true, running: Promise.resolve() };
  const poller = new Poller(async () => {
    state.runs += 1;
    await state.running;
    return state.succeeds;
  });
  /** @returns how often the task has run meanwhile */
  const pass = async (seconds: number): Promise<number> => {
    const before = state.runs;
    for (let passed = 0; passed < seconds; passed += 1) {
      t.mock.timers.tick(1_000);
      await nextTurn();
    }
    return state.runs - before;
  };
  await poller.now();
  return { poller, page, state, pass };
}

test('the page asks every two seconds, and every thirty while it is hidden; at once when it is seen again', async (t) => {
  const { page, state, pass } = await polling(t);
  assert.equal(state.runs, 1);
  assert.equal(await pass(20), 10);
  page.turn(true);
  assert.equal(await pass(60), 2);
  const before = state.runs;
  page.turn(false);
  assert.equal(state.runs, before + 1);
  await nextTurn();
  assert.equal(await pass(20), 10);
});

test('the page asks less often while the gateway does not answer, and every two seconds once it does', async (t) => {
  const { state, pass } = await polling(t);
  state.succeeds = false;
  assert.equal(await pass(120), 7, 'after 2 seconds, 4, 8, 16, 30, 30 and 30');
  state.succeeds = true;
  await pass(30);
  assert.equal(await pass(20), 10);
});

test('the page asks nothing while it is paused, unless something else is looked at', async (t) => {
  const { poller, page, state, pass } = await polling(t);
  poller.isPaused = true;
  assert.equal(await pass(60), 0);
  page.turn(true);
  page.turn(false);
  assert.equal(await pass(60), 0);
  await poller.now();
  assert.equal(state.runs, 2);
  assert.equal(await pass(60), 0);
  poller.isPaused = false;
  assert.equal(state.runs, 3);
  await nextTurn();
  assert.equal(await pass(20), 10);
});

test('what is asked for while an answer is awaited is asked once, behind it', async (t) => {
  const { poller, state } = await polling(t);
  const answer = deferred();
  state.running = answer.promise;
  const first = poller.now();
  await Promise.all([poller.now(), poller.now(), poller.now()]);
  assert.equal(state.runs, 2);
  answer.resolve();
  await first;
  assert.equal(state.runs, 3);
});
