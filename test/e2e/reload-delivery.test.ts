import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { saidTo, type Said } from '../helpers/said.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { sorted } from '../helpers/numbers.ts';

const SCHEMA = `
  type Subscription {
    throttled: Said @event(topic: "items") @delivery(throttleMs: 600000, conflateBy: "key")
    brief: Said @event(topic: "items") @delivery(throttleMs: 20, conflateBy: "key")
    conflated: Said @event(topic: "items") @delivery(onSlow: CONFLATE, conflateBy: "key")
    plain: Said @event(topic: "items")
  }
  type Said { n: Int! key: ID! text: String version: Int }`;

const code = (version: number): Record<string, string> => ({
  'graph.js': `
    import { defineGraph } from 'sluice';
    export default defineGraph({ resolvers: { Said: { version: () => ${version} } } });`,
});

const KEYS = ['a', 'b', 'c', 'd'];

const FILES = { 'schema.graphql': SCHEMA, ...code(0) };

let inForce: ReloadedGraph;

const gatewayOf = sharedGateway(async (scope) => {
  inForce = await ReloadedGraph.of(scope, FILES);
  return startGateway(scope, { GRAPH: inForce.folder, SOCKET_BUFFER_BYTES: '262144', PING_SECONDS: '0' });
});

async function start(t: TestContext) {
  const gateway = await gatewayOf();
  await inForce.reload(gateway, FILES);
  let n = 0;
  /** Sends an event of each of these keys, numbered from 0 on. */
  const say = async (keys: string, text = ''): Promise<void> => {
    for (const key of keys) {
      await gateway.postEvent('items', { n, key, text });
      n += 1;
    }
  };
  const subscribe = async (field: string): Promise<RawSocket> => {
    const socket = await connectAndInit(t, gateway.graphqlUrl);
    socket.subscribe('1', `subscription { ${field} { n key version text } }`, {}, { gaps: true });
    await socket.roundTrip();
    return socket;
  };
  return { graph: inForce, gateway, say, subscribe, sent: () => n };
}

/** Each event that was sent was delivered once, in order, or left out for a later one of its key. */
function assertAllAccountedFor(said: readonly Said[], sent: number): void {
  const numbers = said.map(({ n }) => n);
  assert.deepEqual(numbers, [...new Set(numbers)]);
  const skipped = said.reduce((sum, one) => sum + one.skipped, 0);
  assert.equal(said.length + skipped, sent);
}

const assertRising = (numbers: readonly number[]): void => assert.deepEqual(numbers, sorted(numbers));

test('through reloads in a steady stream a throttle delivers the latest event of each key, and accounts for the others', async (t) => {
  const { graph, gateway, say, subscribe, sent } = await start(t);
  const sockets = [await subscribe('brief'), await subscribe('brief')];
  await gateway.untilMetric('sluice_subscribers', 2);
  for (let version = 1; version <= 5; version += 1) {
    const reloading = graph.reload(gateway, code(version));
    for (let times = 0; times < 10; times += 1) await say('aabcda');
    await reloading;
  }
  await say(KEYS.join(''));
  for (const socket of sockets) {
    const last = (key: string): number | undefined => saidTo(socket).findLast((one) => one.key === key)?.n;
    await socket.until(() => KEYS.every((key, index) => last(key) === sent() - KEYS.length + index));
    const said = saidTo(socket);
    assertAllAccountedFor(said, sent());
    assertRising(said.map(({ version }) => version));
    assert.equal(said.at(-1)?.version, 5);
    for (const key of KEYS) assertRising(said.filter((one) => one.key === key).map(({ n }) => n));
  }
});

test('what waits for a slow socket goes on to be superseded when the graph is replaced, and the latest arrives', async (t) => {
  const { graph, gateway, say, subscribe, sent } = await start(t);
  const socket = await subscribe('conflated');
  await gateway.untilMetric('sluice_subscribers', 1);
  socket.webSocket.pause();
  const text = 'x'.repeat(20_000);
  const leaveOut = async (more: number): Promise<void> => {
    const least = (await gateway.metric('sluice_left_out_results_total')) + more;
    while ((await gateway.metric('sluice_left_out_results_total')) < least) {
      assert.ok(sent() < 4_000, 'expected events to be left out');
      await say('abcd', text);
    }
  };
  await leaveOut(40);
  const before = sent();
  await graph.reload(gateway, code(1));
  await say('ab', text);
  await leaveOut(1);
  socket.webSocket.resume();
  await socket.until(() => saidTo(socket).at(-1)?.n === sent() - 1);
  const said = saidTo(socket);
  assertAllAccountedFor(said, sent());
  assert.deepEqual(
    said.map(({ version }) => version),
    said.map(({ n }) => (n < before ? 0 : 1)),
  );
  assert.deepEqual(
    KEYS.map((key) => said.findLast((one) => one.key === key)?.version),
    [1, 1, 1, 1],
  );
  assert.equal(await gateway.metric('sluice_closes_total'), 0);
});

for (const [what, from, to] of [
  ['another interval', 'throttleMs: 600000', 'throttleMs: 500'],
  ['no @delivery any more', ' @delivery(throttleMs: 600000, conflateBy: "key")', ''],
] as const) {
  test(`a subscription whose field has ${what} gets what was held, then ends`, async (t) => {
    const { graph, gateway, say, subscribe } = await start(t);
    const [socket, other] = [await subscribe('throttled'), await subscribe('plain')];
    await gateway.untilMetric('sluice_subscribers', 2);
    await say('aaa');
    await gateway.untilMetric('sluice_throttled_events_total', 1);
    await graph.reload(gateway, { 'schema.graphql': SCHEMA.replace(from, to) });
    const end = await socket.until(({ type }) => type === 'error');
    assert.match(
      JSON.stringify(end),
      /The events of throttled are delivered in another way\..*GRAPH_CHANGED/,
    );
    assert.deepEqual(
      saidTo(socket).map(({ n, skipped }) => [n, skipped]),
      [
        [0, 0],
        [2, 1],
      ],
    );
    assert.equal(socket.messages.at(-1), end);
    await say('a');
    await other.until(() => saidTo(other).length === 4);
  });
}
