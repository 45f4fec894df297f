import assert from 'node:assert/strict';
import test from 'node:test';
import { STEPS } from '../../loadtest/targets/ladder/ladder-steps.ts';
import { ladderTargets } from '../../loadtest/targets/ladder/ladder-targets.ts';
import { flatGraph, flatLines, FlatWatch, watchedOf } from '../helpers/flat-graph.ts';
import { kcat } from '../helpers/kcat.ts';
import { kafkaBrokers, needs, redisUrl } from '../helpers/services.ts';
import { startTarget } from '../helpers/target-process.ts';
import { createTopic } from '../helpers/topic.ts';

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

for (let from = 0; from < ladderTargets.length; from += BATCH) {
  const targets = ladderTargets.slice(from, from + BATCH);
  const named = targets.map(({ name }) => name).join(', ');
  test(
    `the servers deliver every event with its content: ${named}`,
    needs('kafka', 'redis', 'kcat'),
    async (t) => {
      const topic = await createTopic(t, { partitions: 3 });
      const graph = await flatGraph(t, topic);
      const servers = await Promise.all(
        targets.map((target, index) =>
          startTarget(t, target, {
            brokers: kafkaBrokers(),
            redisUrl: redisUrl(),
            topic,
            graph,
            id: `${topic}-${index}`,
          }),
        ),
      );
      // Two clients ask the same of each server.
      const urls = servers.flatMap(({ url }) => [url, url]);
      const watches = await FlatWatch.start(t, topic, urls);

      const lines = flatLines(EVENTS);
      await kcat(t, topic, lines);

      for (const watch of watches) assert.deepEqual(await watch.until(lines), watchedOf(lines));
      const endings = await Promise.all(servers.map((server) => server.stop()));
      for (const ending of endings) assert.deepEqual(ending, { code: 0, complaints: '' });
    },
  );
}
