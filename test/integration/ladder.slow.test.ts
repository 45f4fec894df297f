import assert from 'node:assert/strict';
import test from 'node:test';
import { STEPS } from '../../loadtest/targets/ladder/ladder-steps.ts';
import { ladderTargets } from '../../loadtest/targets/ladder/ladder-targets.ts';
import { sluice } from '../../loadtest/targets/sluice.ts';
import { stock } from '../../loadtest/targets/stock/stock-target.ts';
import { kcat } from '../helpers/kcat.ts';
import { kafkaBrokers, needs, redisUrl } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { flatGraph, FlatWatch, linesOf, updates } from './flat-graph.ts';
import { startTarget } from './target-process.ts';

const EVENTS = 100;

/** Processes at a time. */
const BATCH = 4;

test('each step of the ladder differs from the one before in one part', () => {
  for (const [index, { parts, name }] of STEPS.entries()) {
    const before = STEPS[index - 1]?.parts;
    if (before === undefined) continue;
    const changed = Object.entries(parts).filter(
      ([part, value]) => before[part as keyof typeof before] !== value,
    );
    assert.equal(changed.length, 1, name);
  }
});

const all = [sluice, stock, ...ladderTargets];

for (let from = 0; from < all.length; from += BATCH) {
  const targets = all.slice(from, from + BATCH);
  const named = targets.map(({ name }) => name).join(', ');
  const title = `the servers deliver every event with its content: ${named}`;
  test(title, needs('kafka', 'redis', 'kcat'), async (t) => {
    const topic = await createTopic(t, { partitions: 3 });
    const graph = await flatGraph(t, topic);
    const wiring = { brokers: kafkaBrokers(), redisUrl: redisUrl(), topic, graph };
    const servers = await Promise.all(
      targets.map((target, index) => startTarget(t, target, { ...wiring, id: `${topic}-${index}` })),
    );
    // Two clients ask the same of each server.
    const urls = servers.flatMap(({ url }) => [url, url]);
    const watches = await FlatWatch.start(t, topic, urls);

    const events = updates(EVENTS);
    await kcat(t, topic, linesOf(events));

    for (const watch of watches) await watch.assertGets(events);
    const endings = await Promise.all(servers.map((server) => server.stop()));
    for (const ending of endings) assert.deepEqual(ending, { code: 0, complaints: '' });
  });
}
