import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { upTo } from '../helpers/numbers.ts';
import { kafkaBrokers } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const PARTITIONS = 6;
const PODS = 2;
const EVENTS = 2_000;
const KEYS = 50;
const QUERY = 'subscription ($id: [ID!]) { item(id: $id) { id n } }';

/** So many events are sent at a time, so many of them before the fault. */
const SLICE = 100;
const BEFORE = 6;
/** Between two slices, so that some come before the fault, some in the course of it and some after it. */
const PACE_MS = 150;

/** Then events behind the fault are sent once more. */
const LAST_MS = 5_000;

/** Of each pod's subscribers; undefined: all. */
const IDS = [[7], [7], [8], [9, 10, 11], undefined];

interface Item {
  readonly item: { readonly id: string; readonly n: number };
}

interface Subscriber {
  readonly pod: GatewayProcess;
  readonly ids: readonly number[];
  readonly received: Received<Item>;
}

/** What came of a stream. */
export interface Outcome {
  readonly pods: readonly GatewayProcess[];
  /** Deliveries that never came. Their subscribers were told. */
  readonly missing: number;
  /** Among them those of events that were sent after the fault had begun. */
  readonly missingOfLater: number;
  /** How many times a subscriber was told of a gap. */
  readonly gaps: number;
}

interface StreamOptions {
  /** Of one pod: where Redis is. */
  readonly redis: (pod: number, topic: string) => Readonly<Record<string, string>>;
  /** The argument of `@event`. */
  readonly history?: string;
  /** Resolves when the fault is over. Default: there is none. */
  readonly happen?: (topic: string) => Promise<unknown>;
}

/**
 * Two pods with five subscribers each, who asked to be told of gaps, and 2,000 events over six partitions, while something
 * happens to Redis. No subscriber gets an event twice, or behind a later one of its key; what one does not get it is told
 * of after the event was sent; and each pod counts what it tells.
 */
export async function streamThroughFault(t: TestContext, options: StreamOptions): Promise<Outcome> {
  const { redis, history = 'null', happen = () => Promise.resolve() } = options;
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const folder = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "id", history: ${history}) }
      type Item { id: ID! n: Int! }`,
  });
  const kafka = { KAFKA_BROKERS: kafkaBrokers(), KAFKA_GROUP_ID: topic };
  const pods = await Promise.all(
    upTo(PODS).map((pod) =>
      startGateway(t, { GRAPH: folder, ...kafka, REDIS_PREFIX: `${topic}:`, ...redis(pod - 1, topic) }),
    ),
  );
  await Promise.all(pods.map((pod) => pod.untilReady()));
  const subscribers = pods.flatMap((pod) => subscribe(t, pod));
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', IDS.length)));

  const sentAt: number[] = [];
  const send = async (slices: number): Promise<void> => {
    for (let slice = 0; slice < slices; slice += 1) {
      const numbers = Array.from({ length: SLICE }, () => sentAt.push(Date.now()) - 1);
      await kcat(t, topic, numbers.map(lineOf));
      await passes(PACE_MS);
    }
  };
  await send(BEFORE);
  await Promise.all(subscribers.map(({ received }) => received.until(1)));
  const streaming = send(EVENTS / SLICE - BEFORE);
  const began = Date.now();
  await Promise.all([happen(topic), streaming]);
  await untilLast(t, topic, subscribers);
  for (const { received } of subscribers) assertInOrder(numbersOf(received));
  // Events that come first over a new connection may be delivered before the gap in front of them is told.
  const accounts = await eventually(() => subscribers.map((one) => accountOf(one, sentAt)));
  await eventually(() => assertCounted(subscribers));
  const missing = accounts.flat();
  return {
    pods,
    missing: missing.length,
    missingOfLater: missing.filter((n) => (sentAt[n] ?? 0) > began).length,
    gaps: subscribers.reduce((sum, { received }) => sum + gapsOf(received).length, 0),
  };
}

function subscribe(t: TestContext, pod: GatewayProcess): Subscriber[] {
  const client = graphqlClient(t, pod.graphqlUrl);
  return IDS.map((ids) => ({
    pod,
    ids: ids ?? [...Array(KEYS).keys()],
    received: new Received<Item>(client, QUERY, ids === undefined ? {} : { id: ids }, { gaps: true }),
  }));
}

function lineOf(n: number) {
  const id = n % KEYS;
  return { key: `item-${id}`, value: JSON.stringify({ id, n }) };
}

/** Each subscriber gets an event of each of its keys that was sent after all others. */
async function untilLast(t: TestContext, topic: string, subscribers: readonly Subscriber[]): Promise<void> {
  let last = EVENTS;
  await eventually(async () => {
    const first = last;
    last += KEYS;
    await kcat(
      t,
      topic,
      Array.from({ length: KEYS }, (_, id) => lineOf(first + id)),
    );
    await eventually(
      () => {
        for (const { ids, received } of subscribers) {
          const numbers = new Set(numbersOf(received));
          const missing = ids.filter((id) => !numbers.has(first + id));
          assert.deepEqual(missing, [], 'keys whose last event has not come');
        }
      },
      { withinMs: LAST_MS },
    );
  });
}

const numbersOf = ({ data }: Received<Item>): number[] =>
  data.flatMap((one) => (one?.item === undefined ? [] : [one.item.n]));

/** When the subscriber was told of gaps. */
function gapsOf({ results }: Received<Item>): number[] {
  return results.flatMap(({ extensions }) => {
    const gap = extensions?.['gap'] as { at: number } | undefined;
    return gap === undefined ? [] : [gap.at];
  });
}

/** No event comes twice, either. */
function assertInOrder(numbers: readonly number[]): void {
  const last = new Map<number, number>();
  for (const n of numbers) {
    const before = last.get(n % KEYS) ?? -1;
    assert.ok(n > before, `expected an event behind ${before} of the same key, got ${n}`);
    last.set(n % KEYS, n);
  }
}

/** @returns what the subscriber has not got. It must have been told. */
function accountOf({ ids, received }: Subscriber, sentAt: readonly number[]): number[] {
  const got = new Set(numbersOf(received));
  const lastGap = Math.max(0, ...gapsOf(received));
  const missing = [...sentAt.keys()].filter((n) => ids.includes(n % KEYS) && !got.has(n));
  const untold = missing.filter((n) => (sentAt[n] ?? 0) > lastGap);
  assert.deepEqual(untold, [], 'events are lost, and their subscriber has not been told');
  return missing;
}

async function assertCounted(subscribers: readonly Subscriber[]): Promise<void> {
  for (const { pod, received } of subscribers) {
    assert.equal(gapsOf(received).length, await pod.metric('sluice_gaps_total'));
  }
}
