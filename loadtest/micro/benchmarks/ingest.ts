/**
 * CPU of one pod for one event, from Kafka's bytes to a serialised result, with one subscriber on each of 4,000 channels
 * and a flood over all of them, and for one without a subscriber. Over Redis if `REDIS_URL` is set, else over the memory
 * bus.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import type { Bus } from '../../../src/bus/bus.ts';
import type { LoadedGraph } from '../../../src/graph/loader/load-graph.ts';
import type { Executor } from '../../../src/executor/executor.ts';
import type { Publisher } from '../../../src/events/publisher.ts';
import { Metrics } from '../../../src/metrics.ts';
import { batchOf, Counting, flatGraph, hubOn, ingestTo, openBus, Tally } from '../ingest-parts.ts';
import { cpuOfRounds, type StageCase, type StageMeasurement } from '../stages.ts';

const CHANNELS = 4_000;
/** Events of one round: what kafkajs hands over at a time is about as much. */
const EVENTS = 4_000;
const ROUNDS = 30;
const WARM_UP_ROUNDS = 5;
const BODY = 'x'.repeat(100);

/** Takes a batch all the way; resolves when nothing of it is on its way any more. */
type Way = (messages: readonly KafkaMessage[]) => Promise<void>;

interface Stage {
  readonly name: string;
  open(graph: LoadedGraph, bus: Bus, metrics: Metrics, prefix: string): Promise<Way>;
}

const takesAll: Publisher = {
  subscribed: (channels) => Promise.resolve(new Set(channels)),
  publish: () => Promise.resolve(),
};

/** Of events that have no subscriber. */
const UNWANTED: readonly Stage[] = [
  {
    name: 'no subscriber',
    open: async (graph, bus, metrics, prefix) => {
      const ingest = ingestTo(bus, graph.topics, prefix, metrics);
      return (messages) => ingest.process(batchOf(messages));
    },
  },
  {
    name: 'no subscriber, keyFrom: KAFKA_KEY',
    open: async (graph, bus, metrics, prefix) => {
      const topics = [...graph.topics].map(
        ([name, topic]) => [name, { ...topic, kafkaKey: 'channel' }] as const,
      );
      const ingest = ingestTo(bus, new Map(topics), prefix, metrics);
      return (messages) => ingest.process(batchOf(messages));
    },
  },
];

/** Each does what the one before it does, and more. */
const STAGES: readonly Stage[] = [
  {
    name: 'decode, snake_case, route, encode',
    open: async (graph, _bus, metrics, prefix) => {
      const ingest = ingestTo(takesAll, graph.topics, prefix, metrics);
      return (messages) => ingest.process(batchOf(messages));
    },
  },
  {
    name: '… and ask, publish, receive',
    open: async (graph, bus, metrics, prefix) => {
      const tally = new Tally();
      const joins = channelNames().map(
        (id) => bus.subscribe(`${prefix}loadtest:channel=${id}`, () => tally.add()).ready,
      );
      await Promise.all(joins);
      const ingest = ingestTo(bus, graph.topics, prefix, metrics);
      return async (messages) => {
        const all = tally.expect(messages.length);
        await ingest.process(batchOf(messages));
        await all;
      };
    },
  },
  {
    name: '… and group, share, serialise',
    open: async (...parts) => {
      const result = { data: { update: { channel: '1', seq: '1', sent_at: 1, body_text: BODY } } };
      const { way } = await openHub(...parts, () => result);
      return way;
    },
  },
  {
    name: '… and execute: all of it',
    open: async (...parts) => {
      const { way, subscribers } = await openHub(...parts);
      await way(round());
      for (const [index, { last, count }] of subscribers.entries()) {
        assert.equal(count, 1);
        assert.deepEqual(JSON.parse(String(last?.json)), {
          data: { update: { channel: `c-${index}`, seq: '0000000001', sent_at: 1.5, body_text: BODY } },
        });
      }
      return way;
    },
  },
];

async function openHub(
  graph: LoadedGraph,
  bus: Bus,
  metrics: Metrics,
  prefix: string,
  execute?: Executor['execute'],
): Promise<{ way: Way; subscribers: Counting[] }> {
  const { hub, operation } = hubOn(bus, graph, prefix, metrics, execute);
  const tally = new Tally();
  const subscribers = channelNames().map((channel) => {
    const subscriber = new Counting(tally);
    hub.join(operation, { channel }, subscriber);
    return subscriber;
  });
  while ((await metrics.subscribers.get()).values[0]?.value !== CHANNELS) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const ingest = ingestTo(bus, graph.topics, prefix, metrics);
  const way: Way = async (messages) => {
    const all = tally.expect(messages.length);
    await ingest.process(batchOf(messages));
    await all;
  };
  return { way, subscribers };
}

const channelNames = () => Array.from({ length: CHANNELS }, (_, index) => `c-${index}`);

let offset = 0;

/** One event for each channel, with offsets that go on. */
function round(): KafkaMessage[] {
  return Array.from({ length: EVENTS }, (_, index) => {
    const channel = `c-${index % CHANNELS}`;
    const event = { channel, seq: '0000000001', sentAt: 1.5, bodyText: BODY };
    offset += 1;
    return {
      key: Buffer.from(channel),
      value: Buffer.from(JSON.stringify(event)),
      offset: String(offset),
      timestamp: String(1_700_000_000_000 + offset),
      attributes: 0,
      headers: {},
    };
  });
}

/** @param chained whether each stage does what the one before does, and more */
async function measured(
  stages: readonly Stage[],
  chained: boolean,
  contains: string,
  rounds = ROUNDS,
): Promise<StageMeasurement[]> {
  const graph = await flatGraph();
  const measurements: StageMeasurement[] = [];
  for (const { name, open } of stages.filter((stage) => stage.name.includes(contains))) {
    const metrics = new Metrics();
    const bus = await openBus(url, metrics);
    const way = await open(graph, bus, metrics, `bench-${randomUUID()}:`);
    const prepare = (): (() => Promise<void>) => {
      const messages = round();
      return () => way(messages);
    };
    const stageNs = await cpuOfRounds(prepare, EVENTS, rounds, WARM_UP_ROUNDS);
    await bus.stop();
    const before = chained ? measurements.at(-1) : undefined;
    measurements.push({ name, stageNs, addedNs: before ? stageNs - before.stageNs : null });
  }
  return measurements;
}

const url = process.env['REDIS_URL'] || undefined;
const where = `${CHANNELS.toLocaleString('en')} channels, ${url === undefined ? 'memory bus' : 'Redis'}`;

export const stageCases: readonly StageCase[] = [
  {
    name: `${where}, no subscriber`,
    unit: 'event',
    measure: (contains, rounds) => measured(UNWANTED, false, contains, rounds),
  },
  {
    name: `${where}, one subscriber each`,
    unit: 'event',
    measure: (contains, rounds) => measured(STAGES, true, contains, rounds),
  },
];
