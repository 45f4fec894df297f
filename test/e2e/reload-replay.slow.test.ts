import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const MISSED = 400;

const SCHEMA = `
  type Subscription { item: Item @event(topic: "items", history: { size: 1000 }) }
  type Item { n: Int! version: Int }`;

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
  assert.deepEqual(versions, sorted(versions));
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
