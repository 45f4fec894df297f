import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { contextsOver } from '../../loadtest/micro/gateway-contexts.ts';
import { heapOfEach, type HeapSize } from '../../loadtest/memory/heap-size.ts';
import { lazy } from '../../src/lazy/lazy.ts';
import { ReadSet } from '../../src/lazy/reads.ts';
import { Pod } from './idle-peers.ts';

/** Back ends, and loaders. */
const GRAPH_SIZES = [0, 500];

const SUBSCRIBERS = 400;

/**
 * What else happens in the process comes to less than this for each subscriber. A single object for each back end or
 * loader would be hundreds of objects and thousands of bytes.
 */
const NOISE: HeapSize = { objects: 5, bytes: 500 };

function assertSame(sizes: readonly HeapSize[]): void {
  for (const key of ['objects', 'bytes'] as const) {
    const figures = sizes.map((size) => Math.round(size[key]));
    assert.ok(
      Math.max(...figures) - Math.min(...figures) <= NOISE[key],
      `${key} for graphs of ${GRAPH_SIZES.join(', ')}: ${figures.join(', ')}`,
    );
  }
}

async function heapOfSubscriber(t: TestContext, graphSize: number, measure = heapOfEach): Promise<HeapSize> {
  const pod = new Pod(graphSize);
  t.after(() => pod.close());
  await pod.subscribe(SUBSCRIBERS / 10);
  await pod.send();
  const size = await measure(SUBSCRIBERS, async () => {
    await pod.subscribe(SUBSCRIBERS);
    // Contexts have been made and used: nothing of them may stay.
    await pod.send();
  });
  await pod.disconnect();
  return size;
}

/** The same work as a measurement, without heap snapshots. */
const unmeasured: typeof heapOfEach = async (_count, make) => {
  await make();
  return { objects: 0, bytes: 0 };
};

test('an idle subscriber takes as much heap with a graph of 500 back ends and loaders as with a graph without any', async (t) => {
  // V8 makes objects in another way, and another size, once code has run for a while.
  for (const graphSize of GRAPH_SIZES) await heapOfSubscriber(t, graphSize, unmeasured);
  const sizes: HeapSize[] = [];
  for (const graphSize of GRAPH_SIZES) sizes.push(await heapOfSubscriber(t, graphSize));
  t.diagnostic(sizes.map(({ objects, bytes }) => `${objects} objects, ${bytes} bytes`).join('; '));
  assert.ok(sizes.every(({ objects }) => objects > 10));
  assertSame(sizes);
});

test('a context that no resolver reads is as small with a graph of 500 back ends and loaders as with a graph without any', async (t) => {
  const sizes: HeapSize[] = [];
  for (const graphSize of GRAPH_SIZES) {
    const names = Array.from({ length: graphSize }, (_, index) => `loader${index}`);
    const loaders = (): object => lazy(Object.fromEntries(names.map((name) => [name, () => ({ name })])));
    const { contexts, close } = contextsOver(graphSize, { loaders, viewerLoaders: loaders });
    t.after(close);
    const held: unknown[] = [];
    const make = (): unknown => contexts.scopeOf({}).execution({ id: 1 }, new ReadSet()).context;
    for (let warm = 0; warm < 20; warm += 1) make();
    sizes.push(
      await heapOfEach(1_000, () => {
        while (held.length < 1_000) held.push(make());
      }),
    );
    assert.equal(held.length, 1_000);
  }
  t.diagnostic(sizes.map(({ objects, bytes }) => `${objects} objects, ${bytes} bytes`).join('; '));
  assert.ok(sizes.every(({ objects }) => objects > 2));
  assertSame(sizes);
});

test('nothing of a subscriber stays in memory after its socket has closed', async (t) => {
  const pod = new Pod(50);
  t.after(() => pod.close());
  await pod.subscribe(100);
  await pod.send();
  // Sockets and subscribers, and the group that they share, once for each client that joined it.
  assert.equal(await pod.alive(), 300);
  await pod.disconnect();
  assert.equal(await pod.alive(), 0);
});
