import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { sluice } from '../../loadtest/targets/sluice.ts';
import { stock } from '../../loadtest/targets/stock/stock-target.ts';
import { flatGraph, flatLines, FlatWatch, watchedOf } from '../helpers/flat-graph.ts';
import { kcat } from '../helpers/kcat.ts';
import { needs, kafkaBrokers, redisUrl } from '../helpers/services.ts';
import { startTarget } from '../helpers/target-process.ts';
import { createTopic } from '../helpers/topic.ts';

const EVENTS = 200;

test('stock delivers what Sluice delivers', needs('kafka', 'redis', 'kcat'), async (t) => {
  const topic = await createTopic(t, { partitions: 3 });
  const graph = await flatGraph(t, topic);
  const servers = await Promise.all(
    [sluice, stock].map((target) => {
      const id = `${topic}-${target.name}-${randomUUID()}`;
      return startTarget(t, target, { brokers: kafkaBrokers(), redisUrl: redisUrl(), topic, graph, id });
    }),
  );
  const urls = servers.map(({ url }) => url);
  const [fromSluice, fromStock] = await FlatWatch.start(t, topic, urls);
  assert.ok(fromSluice && fromStock);

  const lines = flatLines(EVENTS);
  await kcat(t, topic, lines);

  assert.deepEqual(await fromSluice.until(lines), watchedOf(lines));
  assert.deepEqual(await fromStock.until(lines), watchedOf(lines));
  const endings = await Promise.all(servers.map((server) => server.stop()));
  for (const ending of endings) assert.deepEqual(ending, { code: 0, complaints: '' });
});
