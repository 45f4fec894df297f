import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startGraph } from '../e2e/graph-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { ask } from '../unit/server/serve.ts';
import { Pipeline, post } from './pipeline.ts';

const SCHEMA = `
  type Query { hello: String identify: String node: Node }
  type Subscription { node: Node @event(topic: "nodes") }
  type Node { id: ID, node: Node }
`;

/** Clients that say so are not identified until another one asks, as by a back end that does not answer. */
const GRAPH = `
  import { defineGraph } from 'sluice';
  let identify;
  const identified = new Promise((resolve) => (identify = () => resolve({})));
  export default defineGraph({
    authenticate: (_params, { headers }) => (headers['x-waits'] === undefined ? {} : identified),
    resolvers: { Query: { hello: () => 'hello', identify: () => (identify(), 'all') } },
  });
`;

/** The headers of a client with another address than those that attack. */
const HEADERS = { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1' };
const HELLO = JSON.stringify({ query: '{ hello }' });

async function start(t: TestContext): Promise<GatewayProcess> {
  const files = { 'schema.graphql': SCHEMA, 'graph.js': GRAPH };
  return startGraph(t, files, { NODE_OPTIONS: '--max-old-space-size=256', TRUSTED_PROXIES: '127.0.0.1' });
}

/** By a client of another address. */
async function assertServed({ port }: GatewayProcess, field = 'hello', value = 'hello'): Promise<void> {
  const body = JSON.stringify({ query: `{ ${field} }` });
  const response = await ask(port, '/graphql', { method: 'POST', headers: HEADERS, body });
  assert.deepEqual([response.status, response.body], [200, `{"data":{"${field}":"${value}"}}`]);
}

test('requests that wait to be identified neither end the pod nor keep others from it', async (t) => {
  const gateway = await start(t);
  const body = JSON.stringify({ query: '{ hello }', variables: { a: 'x'.repeat(65_000) } });
  const waits = 'x-waits: yes\r\n';
  const large = upTo(100).map(() => new Pipeline(t, gateway));
  const sent = large.map((pipeline) =>
    pipeline.send(
      upTo(40).map(() => body),
      waits,
    ),
  );
  const unfinished = upTo(200).map(() => new Pipeline(t, gateway));
  for (const { socket } of unfinished) socket.write(post('/graphql', body, waits).slice(0, -1));
  const many = upTo(250).map(() => new Pipeline(t, gateway));
  for (const pipeline of many) await pipeline.send([HELLO], waits);
  await assertServed(gateway);
  await assertServed(gateway, 'identify', 'all');
  // Half of those that are not finished are beyond the share of their address.
  await gateway.untilAtLeast('sluice_refusals_total{reason="request_bytes"}', 50);
  await assertServed(gateway);
  for (const { socket } of unfinished) socket.write('}');
  const all = [...large, ...unfinished, ...many];
  await Promise.all(all.map((pipeline) => pipeline.until(1)));
  const statuses = new Set(unfinished.map(({ statuses: [first] }) => first));
  assert.deepEqual([...statuses].toSorted(), [200, 503]);
  const served = all.filter(({ statuses: [first] }) => first === 200);
  assert.ok(served.length > 100, `${served.length} of ${all.length} are served`);
  await assertServed(gateway);
  for (const { socket } of large) socket.destroy();
  await Promise.all(sent);
  await gateway.untilMetric('sluice_reserved_bytes{source="bodies"}', 0);
});

test('documents that take long to validate, one behind the other, let other requests and WebSockets come first', async (t) => {
  const gateway = await start(t);
  const attacker = new Pipeline(t, gateway);
  const levels = `${'node { '.repeat(14)} id ${'}'.repeat(14)}`;
  const aliases = upTo(60).map((n) => `a${n}: node { ${levels} }`);
  const documents = upTo(250).map((n) => JSON.stringify({ query: `query Q${n} { ${aliases.join(' ')} }` }));
  void attacker.send(documents);
  await attacker.until(2);
  const began = performance.now();
  for (const _ of range(0, 20)) await assertServed(gateway);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('1', '{ hello }');
  await socket.until(({ id }) => id === '1');
  t.diagnostic(`20 requests and a WebSocket took ${(performance.now() - began).toFixed(0)} ms`);
  const { length } = attacker.statuses;
  assert.ok(
    length < 100,
    `expected others to be served long before the last of 250, got them after ${length}`,
  );
  assert.deepEqual([...new Set(attacker.statuses)], [200]);
});
