import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { Client } from 'graphql-ws';
import type { GapListener } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { Authenticator } from '../../src/context/authenticator.ts';
import { Queries } from '../../src/context/queries.ts';
import { Contexts } from '../../src/context/event-scope.ts';
import { OperationAdmission } from '../../src/executor/operation-admission.ts';
import { Executor } from '../../src/executor/executor.ts';
import { loadGraph } from '../../src/graph/loader/load-graph.ts';
import type { GapPolicy } from '../../src/hub/gaps.ts';
import { Hub } from '../../src/hub/hub.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { BoundedLabels } from '../../src/support/bounded-labels.ts';
import { systemClock, type Clock } from '../../src/support/clock.ts';
import { FairLimiter } from '../../src/support/fair-limiter.ts';
import { Flusher } from '../../src/transports/delivery/flusher.ts';
import { Connections } from '../../src/transports/connections/connections.ts';
import { Subscriptions } from '../../src/transports/connections/subscriptions.ts';
import { OperationCaps } from '../../src/transports/connections/operation-caps.ts';
import { ConnectionMaxAge } from '../../src/transports/connections/max-age.ts';
import { Turns } from '../../src/support/turns.ts';
import { MessageRate } from '../../src/transports/websocket/message-rate.ts';
import { WebSocketTransport } from '../../src/transports/websocket/transport.ts';
import { eventually } from '../helpers/eventually.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';

const QUERY = 'subscription { item { n } }';
const TOLD = { gaps: true };

/** Stands still until all that sleep are woken, in the order in which they fell asleep. */
class HeldClock implements Clock {
  readonly #sleeping: (() => void)[] = [];
  now = () => 0;
  random = () => 0.5;
  sleep = (): Promise<void> => new Promise((resolve) => void this.#sleeping.push(resolve));

  wake(): void {
    for (const resolve of this.#sleeping.splice(0)) resolve();
  }
}

/** The way from the bus to the sockets, as the gateway puts it together. */
async function startPod(t: TestContext, gapPolicy: GapPolicy = 'close', clock: Clock = systemClock) {
  const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': itemSchema('items') }));
  const { schema, definition } = graph;
  const metrics = new Metrics();
  const log = createLog('silent');
  const bus = new MemoryBus({ lingerMs: 0, metrics, log });
  let report: GapListener | undefined;
  const executor = new Executor({ schema, cacheSize: 10, log });
  const contexts = new Contexts(definition, { bind: () => ({}) }, Date.now);
  const flusher = new Flusher(Date.now, () => undefined);
  const limiter = new FairLimiter(100);
  const hub = new Hub({
    graph,
    bus: {
      subscribe: (topic, channel, listener) => bus.subscribe(topic, channel, listener),
      pause: () => bus.pause(),
      resume: () => bus.resume(),
      onGap: (listener) => void (report = listener),
    },
    executor,
    contexts,
    budget: flusher,
    limiter,
    paths: new BoundedLabels(),
    metrics,
    log,
    maxWaiting: 100,
    timeoutMs: 60_000,
    channelPrefix: '',
    maxChannels: 10,
    gapPolicy,
  });
  const connections = new Connections({
    metrics,
    pingSeconds: 0,
    maxAge: new ConnectionMaxAge(0),
    clock,
    gapClosesPerSecond: 100,
  });
  const transport = new WebSocketTransport({
    connections,
    subscriptions: new Subscriptions(
      hub,
      new OperationCaps({ operationsOfConnection: 10 }, connections.pod, metrics),
    ),
    rate: new MessageRate(new Turns({ msPerSecond: 1_000, now: () => performance.now() }), 1_000, 1_000),
    schema,
    admission: new OperationAdmission({ executor }),
    authenticator: new Authenticator(definition, 60_000, log),
    queries: new Queries({ executor, contexts, limiter, metrics, timeoutMs: 60_000 }),
    flusher,
    metrics,
    log,
    maxPayloadBytes: 65_536,
    bufferBytes: 1_000_000,
    initTimeoutMs: 60_000,
  });
  const server = createServer().on('upgrade', (request, stream, head) =>
    transport.accept(request, stream, head),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    await connections.stop(0);
    await bus.stop();
  });
  let offset = 0;
  return {
    /** The bus may have missed events of the topic. */
    miss: (topic: string) => report?.(topic),
    connections,
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    say: (n: number) => {
      offset += 1;
      const message = { v: 1, t: 'items', p: 0, o: offset, ts: 0, in: 0, key: null, event: { n } };
      return bus.publish('items', [{ channel: 'items', payload: JSON.stringify(message) }]);
    },
    untilSubscribers: (wanted: number) =>
      eventually(async () => assert.equal((await metrics.subscribers.get()).values[0]?.value, wanted)),
    /** How many sockets were closed for this reason. */
    closes: async (reason: string) =>
      (await metrics.closes.get()).values.find(({ labels }) => labels.reason === reason)?.value,
  };
}

const told = (client: Client): Received => new Received(client, QUERY, {}, TOLD);

test('a client that asks for gaps is told between the events, and keeps its socket', async (t) => {
  const { miss, url, say, untilSubscribers, closes } = await startPod(t);
  const received = told(graphqlClient(t, url));
  await untilSubscribers(1);
  await say(1);
  miss('items');
  await say(2);
  await received.until(3);
  assert.deepEqual(received.data, [{ item: { n: 1 } }, null, { item: { n: 2 } }]);
  const gap = received.results[1]?.extensions?.['gap'] as { topic: string; at: number } | undefined;
  assert.deepEqual(gap, { topic: 'items', at: gap?.at });
  assert.equal(typeof gap?.at, 'number');
  assert.equal(await closes('gap'), 0);
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
  miss('items');
  await eventually(() => assert.deepEqual(connected, [0, 1]));
  const [{ code, reason } = {}] = ends as { code?: number; reason?: string }[];
  assert.deepEqual([code, reason], [1012, 'Events may be missing: fetch again']);
  // The subscriptions of the former socket may be counted until those of the next one are there.
  await eventually(async () => {
    await say(2);
    for (const received of several) assert.deepEqual(received.data.at(-1), { item: { n: 2 } });
  });
  assert.deepEqual([await closes('gap'), await closes('service_restart')], [1, 0]);
});

test('with ON_GAP=tell a client that did not ask is told, and keeps its socket', async (t) => {
  const { miss, url, say, untilSubscribers, closes } = await startPod(t, 'tell');
  const received = new Received(graphqlClient(t, url), QUERY);
  await untilSubscribers(1);
  miss('items');
  await say(1);
  await received.until(2);
  assert.deepEqual(received.data, [null, { item: { n: 1 } }]);
  assert.equal(await closes('gap'), 0);
});

test('a client that has sent anything else than true for `gaps` has not asked for them', async (t) => {
  const { miss, url, untilSubscribers, closes } = await startPod(t);
  const sockets = await Promise.all(
    [{ gaps: 'true' }, { gaps: null }, {}, null].map(async (extensions) => {
      const socket = await connectAndInit(t, url);
      socket.send({ id: '1', type: 'subscribe', payload: { query: QUERY, extensions } });
      return socket;
    }),
  );
  await untilSubscribers(sockets.length);
  miss('items');
  for (const { closed } of sockets) assert.equal((await closed).code, 1012);
  assert.equal(await closes('gap'), sockets.length);
});

const endings = [
  {
    name: 'drains',
    end: (connections: Connections) => void connections.closeStaggered(60_000),
    closed: { code: 1012, reason: 'Service restart' },
    counted: 'service_restart',
  },
  {
    name: 'stops',
    end: (connections: Connections) => connections.stop(60_000),
    closed: { code: 1001, reason: 'Going away' },
    counted: 'going_away',
  },
] as const;

for (const { name, end, closed, counted } of endings) {
  test(`once a pod ${name}, sockets that wait to be closed for a gap are closed as all others`, async (t) => {
    const clock = new HeldClock();
    const { miss, url, connections, untilSubscribers, closes } = await startPod(t, 'close', clock);
    const socket = await connectAndInit(t, url);
    socket.subscribe('1', QUERY);
    await untilSubscribers(1);
    miss('items');
    await end(connections);
    clock.wake();
    assert.deepEqual(await socket.closed, closed);
    assert.deepEqual([await closes('gap'), await closes(counted)], [0, 1]);
  });
}

test('a client that goes while it waits to be closed for a gap does not make the others wait', async (t) => {
  const clock = new HeldClock();
  const { miss, url, untilSubscribers, closes } = await startPod(t, 'close', clock);
  const [stays, goes] = [await connectAndInit(t, url), await connectAndInit(t, url)];
  // With this clock's chances the one that has subscribed last is the first in turn.
  for (const [index, socket] of [stays, goes].entries()) {
    socket.subscribe('1', QUERY);
    await untilSubscribers(index + 1);
  }
  miss('items');
  goes.webSocket.terminate();
  await untilSubscribers(1);
  clock.wake();
  assert.equal((await stays.closed).code, 1012);
  assert.equal(await closes('gap'), 1);
});
