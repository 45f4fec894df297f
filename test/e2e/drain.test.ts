import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import test, { type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { spawnCli, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { kcat } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { startItems } from './graph-gateway.ts';

/** Longer than any test: a process that waits for it does not end within the test. */
const FOR_EVER = '3600';

/** In an endless drain the gateway closes one socket each half second: the last one outlives any test. */
const MANY = 80;

/** So many further sockets, in the order in which they were opened. */
async function connect(t: TestContext, gateway: GatewayProcess, count: number): Promise<RawSocket[]> {
  const sockets: RawSocket[] = [];
  for (let index = 0; index < count; index += 1) sockets.push(await connectAndInit(t, gateway.graphqlUrl));
  return sockets;
}

/** With a subscription each. */
async function subscribe(t: TestContext, gateway: GatewayProcess, count: number): Promise<RawSocket[]> {
  const before = await gateway.metric('sluice_subscribers');
  const sockets = await connect(t, gateway, count);
  for (const socket of sockets) socket.subscribe('1', 'subscription { item { n tags } }');
  await gateway.untilMetric('sluice_subscribers', before + count);
  return sockets;
}

/** The codes with which these sockets are closed, as a set: one for all, or one for each kind. */
const closesOf = async (sockets: readonly RawSocket[]): Promise<Set<number>> =>
  new Set((await Promise.all(sockets.map(({ closed }) => closed))).map(({ code }) => code));

/** The answer to an upgrade that is refused. */
async function refusal(gateway: GatewayProcess): Promise<IncomingMessage> {
  const outgoing = request(`${gateway.httpUrl}/graphql`, {
    headers: { connection: 'upgrade', upgrade: 'websocket' },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return response.resume();
}

test('after the drain delay the pod refuses new sockets, and sockets that are still open get events', async (t) => {
  const gateway = await startItems(t, { DRAIN_SECONDS: FOR_EVER });
  const sockets = await subscribe(t, gateway, MANY);
  gateway.child.kill('SIGTERM');
  assert.equal((await sockets[0]?.closed)?.code, 1012);
  const { statusCode, headers } = await refusal(gateway);
  assert.equal(statusCode, 503);
  assert.equal(headers['retry-after'], '1');
  const last = sockets.at(-1);
  await gateway.postEvent('items', { id: 1, n: 7 });
  await last?.until(({ type }) => type === 'next');
  assert.equal(last?.webSocket.readyState, WebSocket.OPEN);
});

test('a pod that drains is unready first, and until the drain delay is over its sockets get events, and new ones come', async (t) => {
  const gateway = await startItems(t, { DRAIN_DELAY_SECONDS: FOR_EVER });
  const before = await subscribe(t, gateway, 1);
  gateway.child.kill('SIGTERM');
  await gateway.untilNotReady(/draining/);
  const later = await subscribe(t, gateway, 1);
  await gateway.postEvent('items', { id: 1, n: 7 });
  for (const socket of [...before, ...later]) await socket.until(({ type }) => type === 'next');
});

test('a second signal, a second or more after the first, ends the process at once', async (t) => {
  const gateway = await startItems(t, { DRAIN_DELAY_SECONDS: FOR_EVER });
  await subscribe(t, gateway, 1);
  gateway.child.kill('SIGTERM');
  await gateway.untilNotReady(/draining/);
  assert.equal(await gateway.insist(), 1);
});

test('a pod that has drained has closed its sockets with 1012, and exits with 0', async (t) => {
  const gateway = await startItems(t, { DRAIN_SECONDS: '1' });
  const sockets = await subscribe(t, gateway, 5);
  const [code, closes] = await Promise.all([gateway.stop(), closesOf(sockets)]);
  assert.deepEqual([code, closes], [0, new Set([1012])]);
  // Clients are free to go on elsewhere at once: no `complete` has told them that their subscription is over.
  assert.ok(sockets.every(({ messages }) => messages.every(({ type }) => type !== 'complete')));
});

test('on SIGINT the gateway closes sockets with 1001 without waiting, and exits with 0', async (t) => {
  const gateway = await startItems(t, { DRAIN_DELAY_SECONDS: FOR_EVER, DRAIN_SECONDS: FOR_EVER });
  const sockets = await subscribe(t, gateway, 3);
  const [code, closes] = await Promise.all([gateway.stop('SIGINT'), closesOf(sockets)]);
  assert.deepEqual([code, closes], [0, new Set([1001])]);
});

test('a socket gets the results that wait for it before it is closed', async (t) => {
  // More than the system takes off the gateway's hands while the client does not read.
  const limits = { MAX_PAYLOAD_BYTES: '1000000', SOCKET_BUFFER_BYTES: '64000000' };
  const gateway = await startItems(t, { ...limits, DRAIN_SECONDS: FOR_EVER });
  const [socket] = await subscribe(t, gateway, 1);
  assert.ok(socket);
  // Until they are closed, too, the gateway does not give up those that it is closing.
  const others = await connect(t, gateway, MANY);
  socket.webSocket.pause();
  const tags = ['x'.repeat(400_000)];
  for (let n = 0; n < 40; n += 1) await gateway.postEvent('items', { id: 1, n, tags });
  const exit = once(gateway.child, 'exit');
  gateway.child.kill('SIGTERM');
  await gateway.untilAtLeast('sluice_closes_total', 1);
  socket.webSocket.resume();
  assert.equal((await socket.closed).code, 1012);
  assert.equal(socket.messages.filter(({ type }) => type === 'next').length, 40);
  for (const { webSocket } of others) webSocket.close();
  assert.deepEqual(await exit, [0, null]);
});

test(
  'where other pods consume, a draining pod leaves its group at once, and its sockets get the events that the others consume',
  needs('kafka', 'redis', 'kcat'),
  async (t) => {
    const topic = await createTopic(t, { partitions: 6 });
    const start = () => startItems(t, { DRAIN_SECONDS: FOR_EVER, ...podSettings(topic) }, topic);
    const [leaving, staying] = await Promise.all([start(), start()]);
    await Promise.all([leaving.untilReady(), staying.untilReady()]);
    const sockets = await subscribe(t, leaving, MANY);
    leaving.child.kill('SIGTERM');
    await leaving.untilNotReady(/stopped/);
    const events = range(0, 12).map((n) => ({ key: String(n), value: JSON.stringify({ id: n, n }) }));
    await kcat(t, topic, events);
    const last = sockets.at(-1);
    await last?.until(() => last.messages.filter(({ type }) => type === 'next').length === 12);
    assert.equal(await leaving.metric('sluice_events_total'), 0);
    assert.equal(await staying.metric('sluice_events_total'), 12);
  },
);

// For the first process of a container signals have no default action: without a handler only SIGKILL ends it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} while the graph is being loaded ends the process with 0`, async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': itemSchema('items'),
      'graph.js': "process.stdout.write('loading'); setInterval(() => {}, 1e6); await new Promise(() => {});",
    });
    const child = spawnCli(t, ['serve'], { PORT: '0', ADMIN_PORT: '0', GRAPH: folder });
    await once(child.stdout, 'data');
    const exit = once(child, 'exit');
    child.kill(signal);
    assert.deepEqual(await exit, [0, null]);
  });
}
