import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import type { Redis } from 'ioredis';
import type { Kafka } from 'kafkajs';
import { beats } from '../contract/redis-fault-pods.ts';
import { eventually } from '../helpers/eventually.ts';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kafkaAdmin, kafkaClient } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { redisAdmin, startRedis, type RedisServer } from '../helpers/redis.ts';
import { kafkaBrokers } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createTopics } from '../helpers/topic.ts';
import { Sender, type Item, type Spread } from './sender.ts';

const PODS = 2;
export const PARTITIONS = 4;
const FEW: Spread = { keys: 10, partitions: PARTITIONS };
const SUBSCRIPTIONS_PER_CLIENT = 20;

/** Then events that have not come to all are sent once more: those behind a fault may be among what it has lost. */
const LAST_MS = 5_000;

const KILLS = 4;

/** The number of events that one pod publishes before a fault. */
const PUBLISHES_BEFORE = 150;

const QUERY = 'subscription ($id: [ID!]) { item(id: $id) { id n partition } }';

/** A hundred, of one key each. */
const CROWD = range(0, 100).map((index) => [index % FEW.keys]);

/** More than all events of a test. */
export const HISTORY = '{ size: 5000, ttl_seconds: 600 }';

/** Cases in which each pod has five subscribers: of one key, of several and of all of many. There are many events, which go on behind the fault. */
export const SEVERAL_KEYS = {
  keys: [[7], [7], [8], [9, 10, 11], undefined],
  spread: { keys: 50, partitions: 6 },
  burst: 5,
  secondsAfter: 3,
};

interface Subscriber {
  readonly pod: GatewayProcess;
  readonly ids: readonly string[];
  readonly received: Received<{ item: Item }>;
}

/** What became of the deliveries that were owed. */
export interface Account {
  readonly owed: number;
  readonly delivered: number;
  /** Not delivered, and the subscriber was told of a gap after the event had been sent: when it was. */
  readonly toldOf: readonly number[];
  readonly lostAndNotTold: number;
  readonly doubled: number;
  /** Behind a later one of their key. */
  readonly reordered: number;
  /** How many times a subscriber was told of a gap. */
  readonly gaps: number;
}

interface StreamOptions {
  /** The settings of one pod that say where Redis is. */
  readonly redis: (pod: number, topic: string) => Readonly<Record<string, string>>;
  /** Default: the broker of all tests. */
  readonly kafka?: { readonly client: Kafka; readonly settings: Readonly<Record<string, string>> };
  /** The argument of `@event`. */
  readonly history?: string;
  /** The keys of each pod's subscribers; undefined: all. */
  readonly keys?: readonly (readonly number[] | undefined)[];
  /** Default: as few as make each event one of many subscribers. */
  readonly spread?: Spread;
  /** How many events are sent at a time. */
  readonly burst?: number;
  /** For how many seconds the events flow on behind the fault. */
  readonly secondsAfter?: number;
}

export interface Stream {
  readonly topic: string;
  readonly pods: readonly GatewayProcess[];
  /** Another pod, without subscribers. @param more settings besides */
  start(more: Readonly<Record<string, string>>): Promise<GatewayProcess>;
  /** Resolves when the first pod has published so many more events. */
  flow(publishes?: number): Promise<void>;
  /** Sends nothing more, and resolves when all that was sent has come. */
  hold(): Promise<void>;
  release(): void;
}

/**
 * What became of a steady stream of numbered events, each key on one partition, to two pods whose subscribers asked to be
 * told of gaps, while something happens. None is doubled, comes behind a later one of its key, or is lost untold; and each
 * pod counts the gaps that it tells.
 */
export async function accountOf(
  t: TestContext,
  { redis, kafka, history = 'null', keys = CROWD, spread = FEW, burst = 1, secondsAfter = 1 }: StreamOptions,
  happen: (stream: Stream) => Promise<unknown> = () => Promise.resolve(),
): Promise<Account> {
  const topic = `account-${randomUUID().slice(0, 8)}`;
  const { client = kafkaClient(), settings = { KAFKA_BROKERS: kafkaBrokers() } } = kafka ?? {};
  await createTopics(await kafkaAdmin(t, client), [{ topic, numPartitions: spread.partitions }]);
  const GRAPH = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "id", history: ${history}) }
      type Item { id: ID! n: Int! partition: Int! }`,
  });
  // Partitions that move for a late heartbeat, on a busy machine, would be a fault beside that of the test.
  const group = { KAFKA_GROUP_ID: topic, KAFKA_SESSION_TIMEOUT_MS: '30000' };
  const all = { GRAPH, ...settings, ...group, REDIS_PREFIX: `${topic}:` };
  const start = (pod: number, more: Readonly<Record<string, string>> = {}) =>
    startReady(t, { ...all, ...redis(pod, topic), ...more });
  const pods = await Promise.all(range(0, PODS).map((pod) => start(pod)));
  const subscribers = pods.flatMap((pod) => subscribe(t, pod, keys, spread));
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', keys.length)));
  const sender = await Sender.start(t, client, topic, spread, burst);
  const stream: Stream = {
    topic,
    pods,
    start: (more) => start(0, more),
    async flow(publishes = PUBLISHES_BEFORE) {
      const published = (await pods[0]?.metric('sluice_publishes_total')) ?? 0;
      await pods[0]?.untilAtLeast('sluice_publishes_total', published + publishes);
    },
    async hold() {
      await sender.hold();
      await untilLast(subscribers, sender);
    },
    release: () => sender.release(),
  };
  await stream.flow();
  await happen(stream);
  await passes(secondsAfter * 1_000); // The stream goes on: its length is what is asked for.
  await eventually(async () => {
    await sender.sendToAll();
    await untilLast(subscribers, sender, LAST_MS);
  });
  // An event may be here before the gap in front of it is told.
  await eventually(() => assert.equal(sumUp(subscribers, sender).lostAndNotTold, 0)).catch(() => undefined);
  const account = sumUp(subscribers, sender);
  t.diagnostic(JSON.stringify({ ...account, toldOf: account.toldOf.length }));
  const { lostAndNotTold, doubled, reordered } = account;
  assert.deepEqual({ lostAndNotTold, doubled, reordered }, { lostAndNotTold: 0, doubled: 0, reordered: 0 });
  await eventually(async () => {
    for (const { pod, received } of subscribers)
      assert.equal(gapsOf(received).length, await pod.metric('sluice_gaps_total'));
  });
  return account;
}

function subscribe(
  t: TestContext,
  pod: GatewayProcess,
  keys: NonNullable<StreamOptions['keys']>,
  spread: Spread,
): Subscriber[] {
  const clients: Client[] = [];
  return keys.map((of, index) => {
    if (index % SUBSCRIPTIONS_PER_CLIENT === 0) clients.push(graphqlClient(t, pod.graphqlUrl));
    const ids = (of ?? range(0, spread.keys)).map(String);
    const variables = of === undefined ? {} : { id: ids };
    const received = new Received<{ item: Item }>(clients.at(-1) as Client, QUERY, variables, { gaps: true });
    return { pod, ids, received };
  });
}

/** Each subscriber has got the last event of each of its keys. */
async function untilLast(
  subscribers: readonly Subscriber[],
  { sent }: Sender,
  withinMs?: number,
): Promise<void> {
  const last = new Map(sent.map(({ id, n }) => [id, n]));
  await eventually(
    () => {
      for (const { ids, received } of subscribers) {
        const got = new Set(itemsOf(received).map(({ n }) => n));
        const missing = ids.filter((id) => !got.has(last.get(id) ?? NaN));
        assert.deepEqual(missing, [], 'keys whose last event has not come');
      }
    },
    withinMs === undefined ? {} : { withinMs },
  );
}

const itemsOf = ({ results }: Subscriber['received']): Item[] =>
  results.flatMap(({ data }) => (data?.item === undefined ? [] : [data.item]));

/** When the subscriber was told of gaps. */
export const gapsOf = ({ results }: Pick<Received<unknown>, 'results'>): number[] =>
  results.flatMap(({ extensions }) => {
    const gap = extensions?.['gap'] as { at: number } | undefined;
    return gap === undefined ? [] : [gap.at];
  });

/** How many come behind a later one of their key. */
export function reorderedIn(items: readonly Pick<Item, 'id' | 'n'>[]): number {
  const last = new Map<string, number>();
  return items.filter(({ n, id }) => {
    const before = last.get(id) ?? -1;
    last.set(id, Math.max(n, before));
    return n < before;
  }).length;
}

function sumUp(subscribers: readonly Subscriber[], { sent }: Sender): Account {
  const account = { owed: 0, delivered: 0, lostAndNotTold: 0, doubled: 0, reordered: 0, gaps: 0 };
  const toldOf: number[] = [];
  for (const { ids, received } of subscribers) {
    const items = itemsOf(received);
    const distinct = new Set(items.map(({ n }) => n));
    const gaps = gapsOf(received);
    const lastGap = Math.max(0, ...gaps);
    account.gaps += gaps.length;
    account.doubled += items.length - distinct.size;
    account.reordered += reorderedIn(items);
    for (const { id, n, at } of sent) {
      if (!ids.includes(id)) continue;
      account.owed += 1;
      if (distinct.has(n)) account.delivered += 1;
      else if (lastGap >= at) toldOf.push(at);
      else account.lostAndNotTold += 1;
    }
  }
  return { ...account, toldOf };
}

interface StreamWithRedis extends Stream {
  readonly t: TestContext;
  readonly redis: RedisServer;
  /** Each pod's network to it. */
  readonly relays: readonly TcpRelay[];
}

export type Happen = (stream: StreamWithRedis) => Promise<void>;

/** Redis closes the connections of these types, those of both pods, again and again. */
export const kill =
  (...types: readonly string[]): Happen =>
  async ({ t, redis, topic, flow }) => {
    const client = await redisAdmin(t, redis);
    await untilKnown(client, topic);
    for (let times = 0; times < KILLS; times += 1) {
      for (const type of types) {
        await eventually(async () => {
          const closed = Number(await client.call('CLIENT', 'KILL', 'TYPE', type));
          assert.ok(closed >= PODS, `expected ${PODS} connections of type ${type}, got ${closed}`);
        });
      }
      await Promise.all([flow(), untilKnown(client, topic)]);
    }
  };

/**
 * Each pod knows how far the other has come, which reads again what it then misses: between two heartbeats the other one says
 * so, and one of two that follow was sent after that.
 */
async function untilKnown(client: Redis, topic: string): Promise<void> {
  for (let times = 0; times < 2; times += 1) await beats(client, 2, { prefix: `${topic}:`, least: PODS });
}

/** What became of a stream to pods with a Redis of their own. */
export async function accountWithRedis(
  t: TestContext,
  options: Omit<Parameters<typeof accountOf>[1], 'redis'>,
  happen: Happen,
): Promise<Account> {
  const redis = await startRedis(t);
  const relays = await Promise.all(range(0, PODS).map(() => TcpRelay.start(t, redis.port)));
  const url = (pod: number) => ({ REDIS_URL: `redis://127.0.0.1:${relays[pod]?.port}` });
  return accountOf(t, { ...options, redis: url }, (stream) => happen({ ...stream, t, redis, relays }));
}
