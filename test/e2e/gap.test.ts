import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Client } from 'graphql-ws';
import type { GapListener } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { systemClock } from '../../src/support/clock.ts';
import { Connections } from '../../src/transports/connections/connections.ts';
import { embedGateway } from '../helpers/embedded-gateway.ts';
import { eventually } from '../helpers/eventually.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';

const QUERY = 'subscription { item { n } }';
const TOLD = { gaps: true };

/** A pod in this process, whose bus misses events when the test says so. */
async function startPod(t: TestContext, ON_GAP = 'close') {
  let report: GapListener | undefined;
  t.mock.method(MemoryBus.prototype, 'onGap', (listener: GapListener) => void (report = listener));
  const started = t.mock.method(Connections.prototype, 'start');
  const GRAPH = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await embedGateway(t, { GRAPH, ON_GAP, PING_SECONDS: '0' });
  const connections = started.mock.calls[0]?.this as Connections | undefined;
  assert.ok(connections);
  return {
    /** The bus may have missed events of the topic. */
    miss: () => report?.('items'),
    connections,
    url: gateway.graphqlUrl,
    say: (n: number) => gateway.postEvent('items', { n }),
    untilSubscribers: (wanted: number) => gateway.untilMetric('sluice_subscribers', wanted),
    /** How many sockets were closed so. */
    closes: (code: number, reason: string) =>
      gateway.metric(`sluice_closes_total{code="${code}",reason="${reason}"}`),
  };
}

/** All that sleep from now on stand still until they are woken, and chance is even. */
function holdClock(t: TestContext): () => void {
  const sleeping: (() => void)[] = [];
  t.mock.method(systemClock, 'sleep', () => new Promise<void>((resolve) => void sleeping.push(resolve)));
  t.mock.method(systemClock, 'random', () => 0.5);
  return () => sleeping.splice(0).forEach((wake) => wake());
}

const told = (client: Client): Received => new Received(client, QUERY, {}, TOLD);

test('a client that asks for gaps is told between the events, and keeps its socket', async (t) => {
  const { miss, url, say, untilSubscribers, closes } = await startPod(t);
  const received = told(graphqlClient(t, url));
  await untilSubscribers(1);
  await say(1);
  miss();
  await say(2);
  await received.until(3);
  assert.deepEqual(received.data, [{ item: { n: 1 } }, null, { item: { n: 2 } }]);
  const gap = received.results[1]?.extensions?.['gap'] as { topic: string; at: number } | undefined;
  assert.deepEqual(gap, { topic: 'items', at: gap?.at });
  assert.equal(typeof gap?.at, 'number');
  assert.equal(await closes(1012, 'gap'), 0);
});

test('the sockets of other clients are closed, once each, and they connect and go on', async (t) => {
  const { miss, url, say, untilSubscribers, closes } = await startPod(t);
  const ends: unknown[] = [];
  const connected: number[] = [];
  const client = graphqlClient(t, url, {
    retryAttempts: 1,
    retryWait: async () => {},
    on: {
      closed: (event) => void ends.push(event),
      connected: () => void connected.push(ends.length),
    },
  });
  const keeps = told(graphqlClient(t, url));
  const several = [new Received(client, QUERY), new Received(client, QUERY), told(client)];
  await untilSubscribers(4);
  await say(1);
  for (const received of [keeps, ...several]) await received.until(1);
  miss();
  await eventually(() => assert.deepEqual(connected, [0, 1]));
  const [{ code, reason } = {}] = ends as { code?: number; reason?: string }[];
  assert.deepEqual([code, reason], [1012, 'Events may be missing: fetch again']);
  // The subscriptions of the former socket may be counted until those of the next one are there.
  await eventually(async () => {
    await say(2);
    for (const received of several) assert.deepEqual(received.data.at(-1), { item: { n: 2 } });
  });
  assert.deepEqual([await closes(1012, 'gap'), await closes(1012, 'service_restart')], [1, 0]);
});

test('with ON_GAP=tell a client that did not ask is told, and keeps its socket', async (t) => {
  const { miss, url, say, untilSubscribers, closes } = await startPod(t, 'tell');
  const received = new Received(graphqlClient(t, url), QUERY);
  await untilSubscribers(1);
  miss();
  await say(1);
  await received.until(2);
  assert.deepEqual(received.data, [null, { item: { n: 1 } }]);
  assert.equal(await closes(1012, 'gap'), 0);
});

test('a client that has sent anything else than true for `gaps` has not asked for them', async (t) => {
  const { miss, url, untilSubscribers, closes } = await startPod(t);
  const sockets = await Promise.all(
    [{ gaps: 'true' }, { gaps: null }, {}, null].map(async (extensions) => {
      const socket = await connectAndInit(t, url);
      socket.subscribe('1', QUERY, {}, extensions);
      return socket;
    }),
  );
  await untilSubscribers(sockets.length);
  miss();
  for (const { closed } of sockets) assert.equal((await closed).code, 1012);
  assert.equal(await closes(1012, 'gap'), sockets.length);
});

for (const [name, end, code, reason, counted] of [
  [
    'drains',
    (pod: Connections) => void pod.closeStaggered(60_000),
    1012,
    'Service restart',
    'service_restart',
  ],
  ['stops', (pod: Connections) => pod.stop(60_000), 1001, 'Going away', 'going_away'],
] as const) {
  test(`once a pod ${name}, sockets that wait to be closed for a gap are closed as all others`, async (t) => {
    const wake = holdClock(t);
    const { miss, url, connections, untilSubscribers, closes } = await startPod(t);
    const socket = await connectAndInit(t, url);
    socket.subscribe('1', QUERY);
    await untilSubscribers(1);
    miss();
    await end(connections);
    wake();
    assert.deepEqual(await socket.closed, { code, reason });
    assert.deepEqual([await closes(1012, 'gap'), await closes(code, counted)], [0, 1]);
  });
}

test('a client that goes while it waits to be closed for a gap does not make the others wait', async (t) => {
  const wake = holdClock(t);
  const { miss, url, untilSubscribers, closes } = await startPod(t);
  const [stays, goes] = [await connectAndInit(t, url), await connectAndInit(t, url)];
  // With even chances the one that has subscribed last is the first in turn.
  for (const [index, socket] of [stays, goes].entries()) {
    socket.subscribe('1', QUERY);
    await untilSubscribers(index + 1);
  }
  miss();
  goes.webSocket.terminate();
  await untilSubscribers(1);
  wake();
  assert.equal((await stays.closed).code, 1012);
  assert.equal(await closes(1012, 'gap'), 1);
});
