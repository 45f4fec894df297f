import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { redisAdmin } from '../helpers/redis.ts';
import { kafkaBrokers, testNeeding, redisUrl } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis');

/** What is promised of pods that listen. */
const CLOSED_WITHIN_MS = 1_000;

const REFUSED = '4403 Access was revoked: a token that was issued since is needed';

interface BidData {
  readonly bid: { readonly n: number };
}

async function startPod(
  t: TestContext,
  topic: string,
  settings: Record<string, string>,
): Promise<GatewayProcess> {
  const schema = `type Subscription { bid: Bid @event(topic: "${topic}") } type Bid { n: Int }`;
  const GRAPH = await graphFolder(t, { 'schema.graphql': schema });
  return startReady(t, { GRAPH, AUTH_SECRET: SECRET, ...settings });
}

function subscribe(t: TestContext, pod: GatewayProcess, token: string): Received<BidData> {
  const client = graphqlClient(t, pod.graphqlUrl, { connectionParams: { token } });
  return new Received(client, 'subscription { bid { n } }');
}

async function revoke({ adminUrl }: GatewayProcess, value: string, expected = 202): Promise<string> {
  const { status, body } = await postJson(`${adminUrl}/revoke`, { path: 'id', value });
  assert.equal(status, expected, body);
  return body;
}

/** Prefixes keep pods of one test from those of others. */
const prefixOf = (t: TestContext): string => `revoke-${process.pid}-${t.name.length}:`;

test('a viewer that is revoked at one of two pods is closed on both within a second, and refused on both; others notice nothing', async (t) => {
  const prefix = prefixOf(t);
  const settings = { REDIS_URL: redisUrl(), REDIS_PREFIX: prefix };
  const pods = await Promise.all([1, 2].map(() => startPod(t, 'bids', settings)));
  const [first] = pods;
  assert.ok(first);
  const bob = await signToken({ sub: 'bob' });
  const others = pods.map((pod) => subscribe(t, pod, bob));
  const redis = await redisAdmin(t, { url: redisUrl() });
  /** An event by way of Redis to those that are not revoked. @returns ms that it took */
  const deliver = async (n: number): Promise<number> => {
    const began = performance.now();
    const message = { v: 1, t: 'bids', p: 0, o: n, ts: 1, in: 1, key: null, event: { n } };
    await redis.publish(`${prefix}bids`, JSON.stringify(message));
    for (const received of others) assert.deepEqual((await received.until(n)).data.at(-1), { bid: { n } });
    return performance.now() - began;
  };
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 1)));
  // A busy machine may hold up one, but not all of them.
  const names = ['ann', 'cid', 'dan', 'eve', 'fay', 'gus'];
  const took: { readonly close: number; readonly event: number }[] = [];
  for (const [index, sub] of names.entries()) {
    const token = await signToken({ sub });
    const revoked = pods.flatMap((pod) => [subscribe(t, pod, token), subscribe(t, pod, token)]);
    await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 3)));
    const began = performance.now();
    await revoke(first, sub);
    const closes = await Promise.all(revoked.map((received) => received.untilClosed()));
    took.push({ close: performance.now() - began, event: await deliver(index + 1) });
    assert.deepEqual(new Set(closes), new Set(['4403 Access was revoked']));
    for (const pod of pods) assert.equal(await subscribe(t, pod, token).untilClosed(), REFUSED);
  }
  const told = took.map(({ close, event }) => `${close.toFixed()} (an event: ${event.toFixed()})`).join(', ');
  t.diagnostic(`all are closed after ${told} ms`);
  const quickest = Math.min(...took.map(({ close }) => close));
  assert.ok(quickest < CLOSED_WITHIN_MS, `all are closed after ${told} ms`);
  for (const pod of pods) await pod.untilMetric('sluice_revocations_total', names.length);
});

test('a pod that does not listen when a viewer is revoked closes its sockets once it listens again, as does one that starts later', async (t) => {
  const { hostname, port } = new URL(redisUrl());
  assert.ok(['127.0.0.1', 'localhost'].includes(hostname));
  const relay = await TcpRelay.start(t, Number(port || 6379));
  const settings = { REDIS_PREFIX: prefixOf(t) };
  const pod = await startPod(t, 'bids', { ...settings, REDIS_URL: redisUrl() });
  const away = await startPod(t, 'bids', { ...settings, REDIS_URL: `redis://127.0.0.1:${relay.port}` });
  const token = await signToken({ sub: 'ann' });
  const received = subscribe(t, away, token);
  await away.untilMetric('sluice_subscribers', 1);
  relay.refuse();
  await away.untilMetric('sluice_bus_connected', 0);
  await revoke(pod, 'ann');
  assert.equal(received.end, undefined);
  relay.admit();
  const close = await received.untilClosed();
  // Or it may have been closed for the gap a moment before.
  assert.match(close, /^(4403 Access was revoked|1012 .*)$/);
  await away.untilMetric('sluice_revocations_total', 1);
  assert.equal(await subscribe(t, away, token).untilClosed(), REFUSED);
  const late = await startPod(t, 'bids', { ...settings, REDIS_URL: redisUrl() });
  await late.untilMetric('sluice_revocations_total', 1);
  assert.equal(await subscribe(t, late, token).untilClosed(), REFUSED);
});

test('a pod that starts once Redis has come back empty refuses a viewer that was revoked before', async (t) => {
  const relay = await TcpRelay.start(t, Number(new URL(redisUrl()).port || 6379));
  const prefix = prefixOf(t);
  const pod = await startPod(t, 'bids', {
    REDIS_URL: `redis://127.0.0.1:${relay.port}`,
    REDIS_PREFIX: prefix,
  });
  const token = await signToken({ sub: 'ann' });
  await revoke(pod, 'ann');
  relay.refuse();
  await pod.untilMetric('sluice_bus_connected', 0);
  const redis = await redisAdmin(t, { url: redisUrl() });
  const key = `${prefix}@revocations`;
  assert.equal(await redis.del(key), 1);
  relay.admit();
  await eventually(async () => assert.equal(await redis.zcard(key), 1));
  const late = await startPod(t, 'bids', { REDIS_URL: redisUrl(), REDIS_PREFIX: prefix });
  assert.equal(await subscribe(t, late, token).untilClosed(), REFUSED);
});

test('while Redis is out of reach, a revocation is answered with 503: it may not reach other pods', async (t) => {
  const relay = await TcpRelay.start(t, Number(new URL(redisUrl()).port || 6379));
  const pod = await startPod(t, 'bids', {
    REDIS_URL: `redis://127.0.0.1:${relay.port}`,
    REDIS_PREFIX: prefixOf(t),
  });
  relay.refuse();
  await pod.untilMetric('sluice_bus_connected', 0);
  const answer = await revoke(pod, 'ann', 503);
  assert.match(answer, /the revocation may not have been taken, send it again: /);
});

test('a worker in the place of one that was killed, and those after SIGHUP, refuse a viewer that was revoked before, without Redis too', async (t) => {
  const topic = await createTopic(t);
  const pod = await startPod(t, topic, {
    WORKERS: '2',
    KAFKA_BROKERS: kafkaBrokers(),
    KAFKA_GROUP_ID: topic,
  });
  const ann = await signToken({ sub: 'ann' });
  const bob = subscribe(t, pod, await signToken({ sub: 'bob' }));
  const before = Array.from({ length: 8 }, () => subscribe(t, pod, ann));
  await pod.untilMetric('sluice_subscribers', 9);
  await revoke(pod, 'ann');
  for (const received of before) assert.equal(await received.untilClosed(), '4403 Access was revoked');
  assert.equal(bob.end, undefined);
  await pod.untilMetric('sluice_revocations_total', 2);
  /** The primary hands connections out in turn, so each worker gets some. @returns how many of them are let in */
  const letIn = async (): Promise<number> => {
    const again = Array.from({ length: 8 }, () => connectAndInit(t, pod.graphqlUrl, { token: ann }));
    return (await Promise.allSettled(again)).filter(({ status }) => status === 'fulfilled').length;
  };
  const listening = () => pod.lines.filter(({ msg }) => msg === 'a worker listens');
  await pod.untilLine(() => listening().length === 2);
  process.kill(Number(listening()[0]?.['pid']), 'SIGKILL');
  await pod.untilLine(() => listening().length === 3);
  const afterKill = await letIn();
  pod.child.kill('SIGHUP');
  await pod.untilLog(/all workers have been replaced/);
  assert.deepEqual({ afterKill, afterHangup: await letIn() }, { afterKill: 0, afterHangup: 0 });
});

test('a pod that starts lets nobody in with a token before it has read from a slow Redis who is revoked, and is not ready', async (t) => {
  const relay = await TcpRelay.start(t, Number(new URL(redisUrl()).port || 6379));
  const prefix = prefixOf(t);
  const pod = await startPod(t, 'bids', { REDIS_PREFIX: prefix, REDIS_URL: redisUrl() });
  // Before the revocation, however long the other pod takes to start: a token that is issued later is let in.
  const token = await signToken({ sub: 'ann' });
  await revoke(pod, 'ann');
  relay.refuse();
  // Between the connection and what is read over it is time to be let in.
  relay.slow(300);
  const GRAPH = await graphFolder(t, {
    'schema.graphql':
      'type Mutation { pay: Int } type Subscription { bid: Bid @event(topic: "bids") } type Bid { n: Int }',
    'graph.js': `import { defineGraph } from 'sluice';
      export default defineGraph({ resolvers: { Mutation: { pay: () => 1 } } });`,
  });
  const late = await startGateway(t, {
    GRAPH,
    AUTH_SECRET: SECRET,
    REDIS_PREFIX: prefix,
    REDIS_URL: `redis://127.0.0.1:${relay.port}`,
  });
  const headers = { authorization: `Bearer ${token}` };
  const query = 'mutation { pay }';
  const pay = async (): Promise<number | undefined> =>
    (await postJson(`${late.httpUrl}/graphql`, { query }, headers)).status;
  const statuses = [await pay()];
  const close = await subscribe(t, late, token).untilClosed();
  assert.equal(close, '1013 This pod has not read yet who is revoked: try again later');
  relay.admit();
  while (!(await fetch(`${late.adminUrl}/readyz`)).ok) statuses.push(await pay());
  statuses.push(await pay());
  // Revocations may have been read before the rest of the pod is ready: then ann is refused as one who is revoked.
  const told = statuses.join(', ');
  assert.match(told, /^(503, )+401(, 401)*$/);
  t.diagnostic(told);
  const bob = { authorization: `Bearer ${await signToken({ sub: 'bob' })}` };
  assert.equal((await postJson(`${late.httpUrl}/graphql`, { query }, bob)).status, 200);
});
