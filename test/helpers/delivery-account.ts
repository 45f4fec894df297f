import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import type { Producer } from 'kafkajs';
import { eventually } from './eventually.ts';
import { startGateway, type GatewayProcess } from './gateway.ts';
import { graphFolder } from './graph-folder.ts';
import { graphqlClient, Received } from './graphql-client.ts';
import { kafkaClient } from './kafka-client.ts';
import type { RedisServer } from './redis.ts';
import { kafkaBrokers } from './services.ts';
import { TcpRelay } from './tcp-relay.ts';
import { createTopics } from './topic.ts';

const PODS = 2;
const SUBSCRIBERS_PER_POD = 100;
const SUBSCRIPTIONS_PER_CLIENT = 20;
const KEYS = 10;
const PARTITIONS = 4;
const EVENTS_PER_SECOND = 100;

const QUERY = 'subscription ($id: [ID!]) { item(id: $id) { id n partition } }';

interface Item {
  readonly id: string;
  readonly n: number;
  readonly partition: number;
}

interface Subscriber {
  readonly id: string;
  readonly received: Received<{ item: Item }>;
}

/** What became of the deliveries that were owed. */
export interface Account {
  readonly sent: number;
  readonly owed: number;
  readonly delivered: number;
  /** Not delivered, and the subscriber was told of a gap after the event had been sent. */
  readonly told: number;
  readonly lostAndNotTold: number;
  readonly doubled: number;
  readonly reordered: number;
  /** How many times a subscriber was told of a gap. */
  readonly gaps: number;
}

export interface Stream {
  readonly topic: string;
  readonly pods: readonly GatewayProcess[];
  /** Each pod's network to Redis. */
  readonly relays: readonly TcpRelay[];
  /** Sends nothing more, and resolves when all that was sent has come. */
  hold(): Promise<void>;
  release(): void;
  /** Sends for so many more seconds, then until every subscriber has got an event that was sent after all others. */
  finish(seconds: number): Promise<Account>;
}

/**
 * Two pods with a hundred subscribers each, who asked to be told of gaps, and a steady stream of events: numbered, ten
 * keys, each key on one partition.
 *
 * @param history the argument of `@event`
 */
export async function startStream(
  t: TestContext,
  redis: RedisServer,
  { history = 'null' } = {},
): Promise<Stream> {
  const topic = `account-${randomUUID().slice(0, 8)}`;
  const admin = kafkaClient().admin();
  await admin.connect();
  await createTopics(admin, [{ topic, numPartitions: PARTITIONS }]);
  await admin.disconnect();
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "id", history: ${history}) }
      type Item { id: ID! n: Int! partition: Int! }`,
  });
  const relays = await Promise.all(Array.from({ length: PODS }, () => TcpRelay.start(t, redis.port)));
  const pods = await Promise.all(
    relays.map((relay) =>
      startGateway(t, {
        GRAPH: folder,
        KAFKA_BROKERS: kafkaBrokers(),
        KAFKA_GROUP_ID: topic,
        REDIS_URL: `redis://127.0.0.1:${relay.port}`,
        REDIS_PREFIX: `${topic}:`,
      }),
    ),
  );
  await Promise.all(pods.map((pod) => pod.untilReady()));
  const subscribers = pods.flatMap((pod) => subscribe(t, pod));
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', SUBSCRIBERS_PER_POD)));
  const sender = new Sender(topic);
  t.after(() => sender.stop());
  await sender.start();
  return {
    topic,
    pods,
    relays,
    async hold() {
      await sender.hold();
      await Promise.all(subscribers.map((subscriber) => untilLast(subscriber, sender)));
    },
    release: () => sender.release(),
    async finish(seconds) {
      await passes(seconds * 1_000); // The stream goes on: its length is what is asked for.
      await sender.sendToAll();
      await Promise.all(subscribers.map((subscriber) => untilLast(subscriber, sender)));
      // An event may be here before the gap in front of it is told.
      let account = accountOf(subscribers, sender);
      await eventually(() => {
        account = accountOf(subscribers, sender);
        assert.equal(account.lostAndNotTold, 0);
      }).catch(() => undefined);
      return account;
    },
  };
}

function subscribe(t: TestContext, pod: GatewayProcess): Subscriber[] {
  const clients: Client[] = [];
  return Array.from({ length: SUBSCRIBERS_PER_POD }, (_, index) => {
    if (index % SUBSCRIPTIONS_PER_CLIENT === 0) clients.push(graphqlClient(t, pod.graphqlUrl));
    const client = clients.at(-1);
    if (client === undefined) throw new Error('no client');
    const id = String(index % KEYS);
    return { id, received: new Received<{ item: Item }>(client, QUERY, { id }, { gaps: true }) };
  });
}

interface Sent extends Item {
  readonly at: number;
}

class Sender {
  readonly sent: Sent[] = [];
  readonly #topic: string;
  #stopping = new AbortController();
  #producer: Producer | undefined;
  #sending: Promise<void> | undefined;

  constructor(topic: string) {
    this.#topic = topic;
  }

  async start(): Promise<void> {
    await this.#connect();
    this.release();
  }

  async hold(): Promise<void> {
    this.#stopping.abort();
    await this.#sending;
  }

  release(): void {
    this.#stopping = new AbortController();
    this.#sending = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    await this.hold();
    await this.#producer?.disconnect();
  }

  /** One more event for each key. */
  async sendToAll(): Promise<void> {
    await this.hold();
    await this.#send(Array.from({ length: KEYS }, () => this.#next()));
  }

  async #connect(): Promise<void> {
    this.#producer = kafkaClient().producer({ createPartitioner: () => (args) => partitionOf(args.message) });
    await this.#producer.connect();
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      await passes(1_000 / EVENTS_PER_SECOND);
      await this.#send([this.#next()]);
    }
  }

  #next(): Item {
    const n = this.sent.length;
    const item = { id: String(n % KEYS), n, partition: (n % KEYS) % PARTITIONS };
    this.sent.push({ ...item, at: Date.now() });
    return item;
  }

  async #send(items: readonly Item[]): Promise<void> {
    const messages = items.map((item) => ({ key: item.id, value: JSON.stringify(item) }));
    await eventually(() => this.#producer?.send({ topic: this.#topic, messages }));
  }
}

function partitionOf({ value }: { value: Buffer | string | null }): number {
  return (JSON.parse(String(value)) as Item).partition;
}

async function untilLast({ id, received }: Subscriber, { sent }: Sender): Promise<void> {
  const last = sent.findLast((item) => item.id === id);
  await eventually(() => {
    if (itemsOf(received).at(-1)?.n !== last?.n) throw new Error(`${last?.n} has not come`);
  });
}

const itemsOf = ({ results }: Subscriber['received']): Item[] =>
  results.flatMap(({ data }) => (data?.item === undefined ? [] : [data.item]));

/** Events that came behind a later one of their partition. */
function reorderedIn(items: readonly Item[]): number {
  const last = new Map<number, number>();
  return items.filter(({ n, partition }) => {
    const before = last.get(partition) ?? -1;
    last.set(partition, Math.max(n, before));
    return n < before;
  }).length;
}

function accountOf(subscribers: readonly Subscriber[], { sent }: Sender): Account {
  const account = { owed: 0, delivered: 0, told: 0, lostAndNotTold: 0, doubled: 0, reordered: 0, gaps: 0 };
  for (const { id, received } of subscribers) {
    const items = itemsOf(received);
    const distinct = new Set(items.map(({ n }) => n));
    const gaps = received.results.flatMap(({ extensions }) => {
      const gap = extensions?.['gap'] as { at: number } | undefined;
      return gap === undefined ? [] : [gap.at];
    });
    const lastGap = Math.max(0, ...gaps);
    account.gaps += gaps.length;
    account.doubled += items.length - distinct.size;
    account.reordered += reorderedIn(items);
    for (const item of sent) {
      if (item.id !== id) continue;
      account.owed += 1;
      if (distinct.has(item.n)) account.delivered += 1;
      else if (lastGap >= item.at) account.told += 1;
      else account.lostAndNotTold += 1;
    }
  }
  return { sent: sent.length, ...account };
}
