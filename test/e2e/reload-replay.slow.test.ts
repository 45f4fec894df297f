import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { range } from '../helpers/numbers.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { asking, post } from './graph-gateway.ts';
import { serve } from './serve.ts';

const MISSED = 400;

const SCHEMA = `
  type Subscription { item: Item @event(topic: "items", history: { size: 1000 }) }
  type Query { item: Item }
  type Item { n: Int! version: Int name: String }`;

/** An event takes so long where a replay is to outlast the graphs that are replaced meanwhile. */
const SLOW_MS = 250;

/** Each event takes a while, so that a replay does too. */
const code = (version: number, ms = 40): string => `
  import { defineGraph } from 'sluice';
  import { setTimeout as passes } from 'node:timers/promises';
  export default defineGraph({
    resolvers: { Item: { version: async () => { await passes(${ms}); return ${version}; } } },
  });`;

const QUERY = 'subscription { item { n version } }';

let inForce: ReloadedGraph;

const gatewayOf = sharedGateway(async (scope) => {
  inForce = await ReloadedGraph.of(scope, { 'schema.graphql': SCHEMA });
  return startGateway(scope, { GRAPH: inForce.folder });
});

async function start(files: Record<string, string>) {
  const gateway = await gatewayOf();
  await inForce.reload(gateway, { 'schema.graphql': SCHEMA, ...files });
  return { graph: inForce, gateway };
}

/** A client that has missed events, and is about to be brought them. */
async function resumer(t: TestContext, gateway: GatewayProcess): Promise<ResumingClient> {
  const client = new ResumingClient(t, QUERY);
  await client.connect(gateway.graphqlUrl);
  client.cut();
  await gateway.untilMetric('sluice_connections', 0);
  for (const n of range(0, MISSED)) await gateway.postEvent('items', { n });
  return client;
}

test('a client that is being brought what it has missed gets the rest by the new graph, once and in order', async (t) => {
  const { graph, gateway } = await start({ 'graph.js': code(0, SLOW_MS) });
  const client = await resumer(t, gateway);
  await client.connect(gateway.graphqlUrl);
  for (let version = 1; version <= 3; version += 1) {
    await client.until(({ length }) => length > 10 * version);
    await graph.reload(gateway, { 'graph.js': version < 3 ? code(version, SLOW_MS) : code(version) });
  }
  assert.ok(client.results.length < MISSED, 'the replay was over before the graphs were replaced');
  await gateway.postEvent('items', { n: MISSED });
  await client.until(({ length }) => length === MISSED + 1);
  assert.deepEqual(client.values('n'), range(0, MISSED + 1));
  const versions = client.values('version') as number[];
  assert.deepEqual(
    versions,
    versions.toSorted((one, other) => one - other),
  );
  assert.deepEqual(new Set(versions), new Set([0, 1, 2, 3]));
  assert.deepEqual(client.greetings, [true, true]);
  assert.equal(client.gaps, 0);
  const late = new ResumingClient(t, QUERY);
  late.cursor = client.cursor;
  await late.connect(gateway.graphqlUrl);
  assert.deepEqual(late.greetings, [true]);
});

test('what was executed for one who resumes by the old graph is not given to one who resumes by the new one', async (t) => {
  const { graph, gateway } = await start({ 'graph.js': code(0) });
  const client = await resumer(t, gateway);
  const { cursor } = client;
  await client.connect(gateway.graphqlUrl);
  await client.until(({ length }) => length === MISSED);
  await graph.reload(gateway, { 'graph.js': code(1) });
  const other = new ResumingClient(t, QUERY);
  other.cursor = cursor;
  await other.connect(gateway.graphqlUrl);
  await other.until(({ length }) => length === MISSED);
  assert.deepEqual(new Set(other.values('version')), new Set([1]));
});

test('a client that is being brought what it has missed is told when its subscription ends, and may come again', async (t) => {
  const { graph, gateway } = await start({ 'graph.js': code(0, SLOW_MS) });
  const client = await resumer(t, gateway);
  await client.connect(gateway.graphqlUrl);
  await client.until(({ length }) => length > 10);
  await graph.reload(gateway, { 'schema.graphql': SCHEMA.replace('version: Int', 'version: Int!') });
  const error = await client.socket?.until(({ type }) => type === 'error');
  assert.match(JSON.stringify(error), /GRAPH_CHANGED/);
  assert.ok(client.results.length < MISSED);
  await gateway.untilMetric('sluice_groups', 0);
  client.cut();
  await client.connect(gateway.graphqlUrl);
  await client.until(({ length }) => length === MISSED);
  assert.deepEqual(client.values('n'), range(0, MISSED));
});

/** A back end whose responses wait until the test lets them go. */
async function slowBackend(t: TestContext, name: string) {
  const waiting: ServerResponse[] = [];
  const url = await serve(t, (_request, response) => void waiting.push(response));
  const release = (): void => {
    for (const response of waiting.splice(0)) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name }));
    }
  };
  const untilAsked = (count: number): Promise<void> => eventually(() => assert.equal(waiting.length, count));
  return { url, release, untilAsked };
}

const codeWith = (url: string): Record<string, string> => ({
  'graph.js': `
    import { defineGraph } from 'sluice';
    const name = async (_item, _args, ctx) => (await ctx.backends.names.get('/name')).name;
    export default defineGraph({
      backends: { names: { url: '${url}' } },
      resolvers: { Item: { name }, Query: { item: () => ({ n: 0 }) } },
    });`,
});

test('calls of a back end that are under way when it is replaced are finished by it', async (t) => {
  const [first, second] = [await slowBackend(t, 'first'), await slowBackend(t, 'second')];
  const { graph, gateway } = await start(codeWith(first.url));
  const received = asking(t, gateway, 'subscription { item { n name } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('items', { n: 1 });
  const query = post(gateway, { query: '{ item { name } }' });
  await first.untilAsked(2);
  await graph.reload(gateway, codeWith(second.url));
  await gateway.postEvent('items', { n: 2 });
  await second.untilAsked(1);
  second.release();
  first.release();
  assert.deepEqual(await query, { data: { item: { name: 'first' } } });
  assert.deepEqual((await received.until(2)).data, [
    { item: { n: 1, name: 'first' } },
    { item: { n: 2, name: 'second' } },
  ]);
});
