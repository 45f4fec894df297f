import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { replaceGraph } from '../../../src/gateway/replace-graph.ts';
import type { GraphInForce } from '../../../src/gateway/graph-in-force.ts';
import type { GraphMaker } from '../../../src/gateway/running-graph.ts';
import { createLog } from '../../../src/log.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';

const SCHEMA = 'type Subscription { item: Item @event(topic: "items") } type Item { n: Int }';

const never = (): never => assert.fail('the graph was put in force');

/** All that a graph is put in force with: none of it may be called for a graph that is refused. */
async function refused(
  t: TestContext,
  code: string,
  check: () => Promise<void>,
  loadMs = 60_000,
): Promise<void> {
  await replaceGraph({
    folder: await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.js': code }),
    claims: [],
    maker: { make: never } as unknown as GraphMaker,
    inForce: { replace: never } as unknown as GraphInForce,
    hub: { plans: [], replaceGraph: never },
    ingest: { check, use: never },
    bus: { keep: never },
    plan: { channelPrefix: '', maxChannels: 1 },
    show: never,
    log: createLog('silent'),
    loadMs,
  });
}

test('code that awaits what never comes is given up', async (t) => {
  await assert.rejects(
    refused(t, 'await new Promise(() => undefined);', () => Promise.resolve(), 20),
    { code: 'BAD_GRAPH', message: 'expected the code of the graph to be loaded within 20 ms' },
  );
});

test('a graph whose topics can not be consumed is not put in force', async (t) => {
  const code = "import { defineGraph } from 'sluice'; export default defineGraph({});";
  await assert.rejects(
    refused(t, code, () => Promise.reject(new Error('no such topic'))),
    { message: 'no such topic' },
  );
});
