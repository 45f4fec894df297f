import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { quantile, range } from '../helpers/numbers.ts';
import { connect, type RawSocket } from '../helpers/raw-socket.ts';
import { startItems, untilNumber } from './arrange.ts';
import { arrivalsAt, floodWith } from './event-flood.ts';

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { n } }';
const ATTACKER = '203.0.113.1';

const idsFrom = (first: number, count = 25) => ({ id: range(first, first + count).map(String) });

/** Whose clients' addresses are known. */
async function start(t: TestContext): Promise<GatewayProcess> {
  const query = 'type Query { hello: String node: Node } type Node { id: ID, node: Node }';
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') + query });
  return startGateway(t, { GRAPH: folder, TRUSTED_PROXIES: '127.0.0.0/8,::1/128' });
}

async function connectFrom(t: TestContext, gateway: GatewayProcess, address: string): Promise<RawSocket> {
  const socket = await connect(t, gateway.graphqlUrl, { headers: { 'x-forwarded-for': address } });
  socket.send({ type: 'connection_init' });
  await socket.until(({ type }) => type === 'connection_ack');
  return socket;
}

/** Delays of events to an honest subscriber meanwhile, and the longest turn of the event loop, as diagnostics: ms. */
async function honestDuring(t: TestContext, gateway: GatewayProcess, attack: () => Promise<void>) {
  const honest = await connectFrom(t, gateway, '198.51.100.1');
  honest.subscribe('1', 'subscription { item { n } }');
  await gateway.untilAtLeast('sluice_subscribers', 1);
  const arrivals = arrivalsAt(honest);
  // The metric has the longest turn since it was last asked for.
  await gateway.metric('nodejs_eventloop_lag_max_seconds');
  const flood = { perSecond: 100, count: 500 };
  const [sent] = await Promise.all([
    floodWith(t, gateway, 'items', (n) => ({ id: '-1', n, price: 10 }), flood),
    attack(),
  ]);
  await untilNumber(honest, flood.count);
  const still = (await gateway.metric('nodejs_eventloop_lag_max_seconds')) * 1_000;
  const delays = [...sent].map(([n, at]) => (arrivals.get(n) ?? Infinity) - at);
  const [p50, p99] = [quantile(delays, 0.5), quantile(delays, 0.99)];
  t.diagnostic(`p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest turn ${still.toFixed(1)} ms`);
  return { p50, p99, still };
}

test('26 connections of one address, with as many channels as each may have, leave a quarter of the pod to others', async (t) => {
  const gateway = await start(t);
  let opened = 0;
  await honestDuring(t, gateway, async () => {
    const sockets = await Promise.all(range(0, 26).map(() => connectFrom(t, gateway, ATTACKER)));
    for (const [index, socket] of sockets.entries()) {
      for (const n of range(0, 20)) {
        const first = (index * 20 + n) * 100;
        socket.subscribe(`${n}`, ITEM, { id: range(first, first + 100).map(String) });
      }
      opened += 20;
    }
    await Promise.all(sockets.map((socket) => socket.roundTrip()));
  });
  assert.equal(opened, 520);
  assert.ok((await gateway.metric('sluice_refusals_total{reason="share_of_client"}')) > 0);
  const taken = await gateway.metric('sluice_channels');
  assert.ok(taken > 37_000 && taken <= 37_501, `${taken} channels`);
  const other = await connectFrom(t, gateway, '198.51.100.2');
  for (const n of range(0, 20)) {
    other.subscribe(`${n}`, ITEM, { id: range(100_000 + n * 100, 100_100 + n * 100).map(String) });
  }
  await other.roundTrip();
  assert.deepEqual(
    other.messages.filter(({ type }) => type === 'error'),
    [],
  );
});

/** The viewer is what the request says. */
const BY_HEADER = `
  import { defineGraph } from 'sluice';
  export default defineGraph({ authenticate: (_params, { headers }) => ({ id: headers['x-viewer'] }) });
`;

test('a viewer with an id has a share of its own, on WebSockets and event streams together, and others of its address another', async (t) => {
  const settings = { MAX_CHANNELS_PER_POD: '100', VIEWER_ID: 'id', TRUSTED_PROXIES: 'none' };
  const gateway = await startItems(t, settings, { 'graph.js': BY_HEADER });
  for (const first of [0, 25]) {
    const socket = await connect(t, gateway.graphqlUrl, { headers: { 'x-viewer': 'ann' } });
    socket.send({ type: 'connection_init' });
    await socket.until(({ type }) => type === 'connection_ack');
    socket.subscribe('1', ITEM, idsFrom(first));
    await socket.roundTrip();
  }
  const left = new AbortController();
  t.after(() => left.abort());
  const stream = (viewer: string, variables: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-viewer': viewer },
      body: JSON.stringify({ query: ITEM, variables }),
      signal: left.signal,
    });
  await stream('ann', idsFrom(50));
  await gateway.untilMetric('sluice_channels', 75);
  assert.match(await (await stream('ann', idsFrom(75, 1))).text(), /"code":"POD_FULL"/);
  await stream('bob', idsFrom(75, 18));
  await gateway.untilMetric('sluice_channels', 93);
});

test('100 connections of one address, each with documents that take long, have half of the event loop together', async (t) => {
  const gateway = await start(t);
  const sockets = await Promise.all(range(0, 100).map(() => connectFrom(t, gateway, ATTACKER)));
  const levels = `${'node { '.repeat(14)} id ${'}'.repeat(14)}`;
  const aliases = range(0, 60).map((n) => `a${n}: node { ${levels} }`);
  const answers = (): number =>
    sockets.reduce((sum, { messages }) => sum + messages.filter(({ type }) => type === 'next').length, 0);
  const honest = await connectFrom(t, gateway, '198.51.100.2');
  await honestDuring(t, gateway, async () => {
    for (const [index, socket] of sockets.entries()) {
      for (const n of range(0, 10)) {
        socket.subscribe(`${n}`, `query Q${index}N${n} { ${aliases.join(' ')} }`);
      }
    }
    await sockets[0]?.until(({ type }) => type === 'next');
    const began = performance.now();
    for (const n of range(0, 20)) {
      honest.subscribe(`${n}`, '{ hello }');
      await honest.until(({ id, type }) => id === `${n}` && type === 'next');
    }
    t.diagnostic(
      `20 queries took ${(performance.now() - began).toFixed(0)} ms, after ${answers()} answers to others`,
    );
    assert.ok(answers() < 700, `expected few of 1,000 answers, got ${answers()}`);
    for (const socket of sockets) socket.webSocket.terminate();
  });
});
