import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Bus } from '../../src/bus/bus.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { startRedis } from '../helpers/redis.ts';
import { fileScope, type Scope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';

const test = testNeeding('redis-server');

const HEAP_MB = 256;
const PREFIX = 'abuse:';
const SCHEMA = `
  type Subscription {
    last(id: [ID!]): Item @event(topic: "items", key: "id", history: { size: 16 }, replay: 1)
    since(id: [ID!]): Item @event(topic: "items", key: "id", history: { size: 16 })
  }
  type Item { id: ID n: Int at: Float text: String }
`;

/** For others' events, on a machine that is busy: on a quiet one it takes some 100 ms. */
const LATEST_MS = 5_000;

/** One subscription asks for so many. */
const IDS = 100;

/** Events of 24,000 bytes that Redis keeps of each channel, so that 1,500 channels have more than the pod has memory. */
const EVENTS = 10;
const TEXT = 'x'.repeat(24_000);

/** How many channels have history. */
const LISTS = 1_500;

const HONEST = `${PREFIX}items:id=honest`;

const asked = (field: string, from: number): [query: string, variables: Record<string, unknown>] => [
  `subscription ($id: [ID!]) { ${field}(id: $id) { n text } }`,
  { id: range(from, from + IDS).map(String) },
];

interface Attacked {
  readonly gateway: GatewayProcess;
  readonly attacker: RawSocket;
  readonly epoch: string;
  /** How long the slowest of the honest subscriber's events took to come: ms. */
  readonly longestMs: () => number;
}

const scope = fileScope();
let filling: ReturnType<typeof fill> | undefined;
let published = EVENTS + LISTS;

/** A Redis that keeps many large events. All tests read it, and none adds to these. */
async function fill(of: Scope) {
  const redis = await startRedis(of);
  const bus = ioredisBus({
    access: { url: redis.url },
    prefix: PREFIX,
    lingerMs: 0,
    countsSubscribers: true,
    histories: new Map([['items', { size: 16, ttlMs: 1_200_000, keepsAll: true }]]),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
  bus.start();
  of.after(() => bus.stop());
  await eventually(() => assert.equal(bus.notReady(), undefined));
  const channels = range(0, LISTS).map((id) => `${PREFIX}items:id=${id}`);
  // One event for all but the last of each channel, so that Redis is soon full of them.
  for (const n of upTo(EVENTS - 1)) await publish(bus, channels, n, TEXT);
  for (const [index, channel] of channels.entries()) await publish(bus, [channel], EVENTS + index, TEXT);
  return { redis, bus };
}

/** A pod with little memory, whose Redis keeps many large events, and an honest subscriber that has an event each 50 ms. */
async function attacked(t: TestContext): Promise<Attacked> {
  const { redis, bus } = await (filling ??= fill(scope));
  const gateway = await startReady(t, {
    GRAPH: await graphFolder(t, { 'schema.graphql': SCHEMA }),
    REDIS_URL: redis.url,
    REDIS_PREFIX: PREFIX,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --max-semi-space-size=16`,
  });
  const honest = await connectAndInit(t, gateway.graphqlUrl);
  honest.subscribe('1', 'subscription { since(id: ["honest"]) { at } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  let longest = 0;
  honest.webSocket.on('message', (data: Buffer) => {
    const { payload } = JSON.parse(data.toString()) as { payload?: { data?: { since: { at: number } } } };
    if (payload?.data) longest = Math.max(longest, Date.now() - payload.data.since.at);
  });
  const send = () => void publish(bus, [HONEST], (published += 1), '').catch(() => undefined);
  const publishing = setInterval(send, 50);
  t.after(() => clearInterval(publishing));
  const { epoch } =
    bus.position('items') ?? (await bus.readHistory('items', [], 0, { maxBytes: 0 })).position;
  return {
    gateway,
    attacker: await connectAndInit(t, gateway.graphqlUrl),
    epoch,
    longestMs: () => longest,
  };
}

async function publish(bus: Bus, channels: readonly string[], n: number, text: string): Promise<void> {
  const now = Date.now();
  const payload = JSON.stringify({
    v: 1,
    t: 'items',
    p: 0,
    o: n,
    ts: now,
    in: now,
    key: null,
    event: { n, text, at: now },
  });
  await bus.publish(
    'items',
    channels.map((channel) => ({ channel, payload })),
  );
}

/** The pod lives, has served others in time, and gives back what it has reserved. */
async function assertUnharmed(t: TestContext, { gateway, longestMs }: Attacked): Promise<void> {
  assert.equal(gateway.child.exitCode ?? gateway.child.signalCode, null);
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.untilMetric('sluice_reserved_bytes{source="history"}', 0);
  const late = await connectAndInit(t, gateway.graphqlUrl);
  late.subscribe('1', 'subscription { since(id: ["honest"]) { at } }');
  await late.until(({ type }) => type === 'next');
  t.diagnostic(`the longest delay was ${longestMs()} ms`);
  assert.ok(longestMs() < LATEST_MS, `expected each event within ${LATEST_MS} ms, got ${longestMs()}`);
}

test('a client that begins with the last event of 1,500 channels gets them, from a pod that serves others meanwhile', async (t) => {
  const set = await attacked(t);
  const { attacker } = set;
  const fields = range(0, LISTS / IDS);
  for (const n of fields) attacker.subscribe(`s${n}`, ...asked('last', n * IDS));
  let events = 0;
  const all = new Promise<void>((resolve) => {
    attacker.webSocket.on('message', (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { type: string }).type === 'next') events += 1;
      if (events === LISTS) resolve();
    });
  });
  await Promise.race([all, attacker.closed]);
  assert.equal(events, LISTS);
  attacker.webSocket.terminate();
  await assertUnharmed(t, set);
});

test('a client that resumes 800 channels from their beginning is told that it has missed events', async (t) => {
  const set = await attacked(t);
  const { attacker, epoch } = set;
  const resume = { resume: `1.${epoch}.0` };
  for (const n of range(0, 8)) {
    attacker.subscribe(`s${n}`, ...asked('since', n * IDS), resume);
  }
  for (const n of range(0, 8)) {
    const { payload } = await attacker.until(({ id }) => id === `s${n}`);
    assert.equal((payload as { extensions?: { recovered?: boolean } }).extensions?.recovered, false);
  }
  attacker.webSocket.terminate();
  await assertUnharmed(t, set);
});

test('a client that subscribes to 600 channels and leaves, again and again, leaves nothing recorded beyond its share', async (t) => {
  const set = await attacked(t);
  const { attacker, gateway } = set;
  let most = 0;
  for (const round of range(0, 24)) {
    for (const n of range(0, 6)) attacker.subscribe(`${round}:${n}`, ...asked('last', n * IDS));
    await passes(200);
    for (const n of range(0, 6)) attacker.send({ id: `${round}:${n}`, type: 'complete' });
    most = Math.max(most, await gateway.metric('sluice_reserved_bytes{source="history"}'));
    await passes(50);
  }
  attacker.webSocket.terminate();
  assert.ok(most <= (HEAP_MB * 2 ** 20) / 16, `${most} bytes were reserved`);
  await assertUnharmed(t, set);
});
