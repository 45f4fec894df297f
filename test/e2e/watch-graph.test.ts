import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway } from '../helpers/gateway.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { post } from './graph-gateway.ts';

const SCHEMA = `
  type Subscription { item: Item @event(topic: "items") }
  type Query { version: String }
  type Item { n: Int! }`;

const code = (version: number): string => `
  import { defineGraph } from 'sluice';
  export default defineGraph({ resolvers: { Query: { version: () => '${version}' } } });`;

const reloads = (outcome: string): string => `sluice_graph_reloads_total{outcome="${outcome}"}`;

for (const workers of [1, 2]) {
  test(
    `a changed folder is noticed with ${workers} of WORKERS; one that can not be used is told, and changes nothing`,
    needs('redis'),
    async (t) => {
      const graph = await ReloadedGraph.of(t, { 'schema.graphql': SCHEMA, 'graph.js': code(0) });
      const settings = { GRAPH: graph.folder, WATCH_GRAPH: 'true', WORKERS: String(workers) };
      const gateway = await startGateway(t, { ...settings, REDIS_URL: redisUrl() });
      await gateway.untilReady();
      const untilVersion = (version: number): Promise<void> =>
        eventually(async () =>
          assert.deepEqual(await post(gateway, { query: '{ version }' }), {
            data: { version: String(version) },
          }),
        );
      await graph.write({ 'schema.graphql': 'type Subscription {' });
      await gateway.untilLine(({ msg }) => msg.includes('schema.graphql:1:20: error: '));
      // A file may be looked at while it is being written, too.
      await gateway.untilAtLeast(reloads('refused'), 1);
      await untilVersion(0);
      await graph.write({ 'schema.graphql': SCHEMA, 'graph.js': code(1) });
      await gateway.untilMetric(reloads('done'), 1);
      await untilVersion(1);
      if (workers === 1) return;
      const started = () => gateway.lines.filter(({ msg }) => msg === 'a worker listens').length;
      await gateway.untilLine(() => started() >= 2 * workers);
      assert.equal(started(), 2 * workers, 'a broken graph starts no worker');
    },
  );
}
