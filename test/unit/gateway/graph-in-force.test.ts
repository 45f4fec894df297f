import assert from 'node:assert/strict';
import test from 'node:test';
import { GraphInForce } from '../../../src/gateway/graph-in-force.ts';
import type { RunningGraph } from '../../../src/gateway/running-graph.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Passes each time when it is told to. */
class HeldClock {
  #wake: (() => void)[] = [];

  sleep(_ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
  }

  async pass(): Promise<void> {
    for (const wake of this.#wake.splice(0)) wake();
    await turn();
  }
}

/** A graph that notes which of its back ends are closed, and for whom. */
function graph(name: string, closed: string[]) {
  const queries = { isIdle: true };
  const backends = {
    name,
    close: async (after?: { name: string }) => void closed.push(`${name} ${after?.name}`),
  };
  return { queries, running: { queries, backends } as unknown as RunningGraph };
}

test('the back ends of a graph that was replaced are closed once its events and queries are over', async () => {
  const closed: string[] = [];
  const clock = new HeldClock();
  const [one, two] = [graph('one', closed), graph('two', closed)];
  const inForce = new GraphInForce(one.running, clock);
  let isDone = false;
  one.queries.isIdle = false;
  inForce.replace(two.running, () => isDone);
  assert.equal(inForce.current, two.running);
  await clock.pass();
  isDone = true;
  await clock.pass();
  assert.deepEqual(closed, []);
  one.queries.isIdle = true;
  await clock.pass();
  await turn();
  assert.deepEqual(closed, ['one two']);
});

test('graphs that were replaced are closed in their order, and at the stop whatever is under way', async () => {
  const closed: string[] = [];
  const clock = new HeldClock();
  const [one, two, three] = [graph('one', closed), graph('two', closed), graph('three', closed)];
  const inForce = new GraphInForce(one.running, clock);
  let isFirstDone = false;
  inForce.replace(two.running, () => isFirstDone);
  inForce.replace(three.running, () => true);
  await clock.pass();
  await clock.pass();
  assert.deepEqual(closed, []);
  isFirstDone = true;
  await clock.pass();
  await turn();
  assert.deepEqual(closed, ['one two', 'two three']);
  inForce.replace(one.running, () => false);
  await inForce.stop();
  assert.deepEqual(closed.slice(2), ['three one', 'one undefined']);
});
