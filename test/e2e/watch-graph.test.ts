import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess, type LogLine } from '../helpers/gateway.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const SCHEMA = `
  type Subscription { item: Item @event(topic: "items") }
  type Query { version: String }
  type Item { n: Int! }`;

const code = (version: number): string => `
  import { defineGraph } from 'sluice';
  export default defineGraph({ resolvers: { Query: { version: () => '${version}' } } });`;

const RELOADED = 'the graph has been reloaded';

const linesOf = ({ lines }: GatewayProcess, msg: string): LogLine[] =>
  lines.filter((line) => line.msg === msg);

async function untilVersion({ httpUrl }: GatewayProcess, version: number): Promise<void> {
  await eventually(async () => {
    const response = await fetch(`${httpUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ version }' }),
    });
    assert.deepEqual(await response.json(), { data: { version: String(version) } });
  });
}

async function start(t: TestContext, settings: Record<string, string> = {}) {
  const graph = await ReloadedGraph.of(t, { 'schema.graphql': SCHEMA, 'graph.js': code(0) });
  const gateway = await startGateway(t, { GRAPH: graph.folder, WATCH_GRAPH: 'true', ...settings });
  return { graph, gateway };
}

test('a file that is written, or put in the place of another, is noticed; other files are not looked at', async (t) => {
  const { graph, gateway } = await start(t);
  await graph.write({ 'graph.js': code(1) });
  await untilVersion(gateway, 1);
  await graph.replace('graph.js', code(2));
  await untilVersion(gateway, 2);
  await graph.write({ 'schema.graphql': `${SCHEMA} type Other { n: Int }`, 'graph.js': code(3) });
  await untilVersion(gateway, 3);
  await graph.write({ 'notes.log': 'more' });
  await graph.write({ 'graph.js': code(4) });
  await untilVersion(gateway, 4);
  await eventually(() => assert.equal(linesOf(gateway, RELOADED).length, 4));
});

test('a graph that is broken for a while is told, and noticed when it is whole again', async (t) => {
  const { graph, gateway } = await start(t);
  await graph.write({ 'schema.graphql': 'type Subscription {' });
  await gateway.untilMetric('sluice_graph_reloads_total{outcome="refused"}', 1);
  await untilVersion(gateway, 0);
  await graph.write({ 'schema.graphql': SCHEMA, 'graph.js': code(1) });
  await untilVersion(gateway, 1);
});

/** A folder as Kubernetes makes it of a ConfigMap: all files change at once, by one link. */
async function mount(folder: string, revision: number): Promise<void> {
  const data = `..revision_${revision}`;
  await mkdir(path.join(folder, data));
  await writeFile(path.join(folder, data, 'schema.graphql'), SCHEMA);
  await mkdir(path.join(folder, data, 'lib'));
  await writeFile(path.join(folder, data, 'graph.js'), `import './lib/part.js'; ${code(revision)}`);
  await writeFile(path.join(folder, data, 'lib/part.js'), '');
  await symlink(data, path.join(folder, '..data_tmp'));
  await rename(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
  await rm(path.join(folder, `..revision_${revision - 1}`), { recursive: true, force: true });
}

test('a ConfigMap that changes is noticed', async (t) => {
  const folder = await temporaryFolder(t);
  await mount(folder, 0);
  for (const file of ['schema.graphql', 'graph.js', 'lib']) {
    await symlink(path.join('..data', file), path.join(folder, file));
  }
  const gateway = await startGateway(t, { GRAPH: folder, WATCH_GRAPH: 'true' });
  for (const revision of [1, 2]) {
    await mount(folder, revision);
    await untilVersion(gateway, revision);
  }
  await eventually(() => assert.equal(linesOf(gateway, RELOADED).length, 2));
});

test('a folder that is a link to another one is noticed when the link changes', async (t) => {
  const parent = await temporaryFolder(t);
  const link = path.join(parent, 'current');
  for (const release of [0, 1]) {
    await mkdir(path.join(parent, `${release}`));
    await writeFile(path.join(parent, `${release}`, 'schema.graphql'), SCHEMA);
    await writeFile(path.join(parent, `${release}`, 'graph.js'), code(release));
  }
  await symlink('0', link);
  const gateway = await startGateway(t, { GRAPH: link, WATCH_GRAPH: 'true' });
  await symlink('1', `${link}.new`);
  await rename(`${link}.new`, link);
  await untilVersion(gateway, 1);
});

test(
  'workers are replaced when the folder changes, unless the graph can not be used',
  needs('redis'),
  async (t) => {
    const { graph, gateway } = await start(t, { WORKERS: '2', REDIS_URL: redisUrl() });
    await eventually(() => assert.equal(linesOf(gateway, 'a worker listens').length, 2));
    await graph.write({ 'schema.graphql': 'type Subscription {' });
    await gateway.untilMetric('sluice_graph_reloads_total{outcome="refused"}', 1);
    const refusal = 'the graph can not be reloaded; the one before stays in force';
    await eventually(() => assert.equal(linesOf(gateway, refusal).length, 1));
    assert.ok(gateway.lines.some(({ msg }) => msg.includes('schema.graphql:1:20: error: ')));
    assert.equal(linesOf(gateway, 'a worker listens').length, 2);
    await graph.write({ 'schema.graphql': SCHEMA, 'graph.js': code(1) });
    await gateway.untilLog(/all workers have been replaced/);
    await untilVersion(gateway, 1);
    assert.equal(await gateway.metric('sluice_graph_reloads_total{outcome="done"}'), 1);
  },
);
