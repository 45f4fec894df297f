/**
 * CPU of one pod for each event of a flood over 4,000 channels, without subscribers, and with one subscriber on each
 * channel, from Kafka's bytes to a serialised result. Uses Redis if `REDIS_URL` is set, else the memory bus.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Bus } from '../../../src/bus/bus.ts';
import type { LoadedGraph } from '../../../src/graph/loader/load-graph.ts';
import type { Executor } from '../../../src/executor/executor.ts';
import type { Publisher } from '../../../src/events/publisher.ts';
import { Metrics } from '../../../src/metrics.ts';
import { CHANNELS, resultOn, roundOfEvents, TOPIC } from '../ingest-events.ts';
import {
  Arrivals,
  CountingSubscriber,
  flatGraph,
  hubOn,
  ingestWay,
  openBus,
  untilArrived,
  type Way,
} from '../ingest-parts.ts';
import { cpuOfRounds, type StageCase, type StageMeasurement } from '../stages.ts';

const ROUNDS = 30;
const WARM_UP_ROUNDS = 5;

interface Stage {
  readonly name: string;
  open(graph: LoadedGraph, bus: Bus, metrics: Metrics, prefix: string): Promise<Way>;
}

const takesAll: Publisher = {
  subscribed: (channels) => Promise.resolve(new Set(channels)),
  publish: () => Promise.resolve(),
};

/** Stages for events without a subscriber. */
const UNWANTED: readonly Stage[] = [
  {
    name: 'no subscriber',
    open: async ({ topics }, bus, ...rest) => ingestWay(bus, topics, ...rest),
  },
  {
    name: 'no subscriber, keyFrom: KAFKA_KEY',
    open: async (graph, bus, metrics, prefix) => {
      const topics = [...graph.topics].map(
        ([name, topic]) => [name, { ...topic, kafkaKey: 'channel' }] as const,
      );
      return ingestWay(bus, new Map(topics), metrics, prefix);
    },
  },
];

/** Each stage does the work of the one before it, and more. */
const STAGES: readonly Stage[] = [
  {
    name: 'decode, snake_case, route, encode',
    open: async ({ topics }, _bus, ...rest) => ingestWay(takesAll, topics, ...rest),
  },
  {
    name: '… and ask, publish, receive',
    open: async (graph, bus, metrics, prefix) => {
      const arrivals = new Arrivals();
      const joins = CHANNELS.map(
        (channel) => bus.subscribe(TOPIC, `${prefix}${TOPIC}:channel=${channel}`, () => arrivals.add()).ready,
      );
      await Promise.all(joins);
      return untilArrived(ingestWay(bus, graph.topics, metrics, prefix), arrivals);
    },
  },
  {
    name: '… and group, share, serialise',
    open: async (...parts) => {
      const result = resultOn('1');
      const { way } = await openHub(...parts, () => result);
      return way;
    },
  },
  {
    name: '… and execute: all of it',
    open: async (...parts) => {
      const { way, subscribers } = await openHub(...parts);
      await way(roundOfEvents());
      for (const [index, { last, count }] of subscribers.entries()) {
        assert.equal(count, 1);
        assert.deepEqual(JSON.parse(String(last?.json)), resultOn(CHANNELS[index] ?? ''));
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
): Promise<{ way: Way; subscribers: CountingSubscriber[] }> {
  const { hub, operation } = hubOn(bus, graph, prefix, metrics, execute);
  const arrivals = new Arrivals();
  const subscribers = CHANNELS.map((channel) => {
    const subscriber = new CountingSubscriber(arrivals);
    hub.join(operation, { channel }, subscriber);
    return subscriber;
  });
  while ((await metrics.subscribers.get()).values[0]?.value !== CHANNELS.length) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const way = untilArrived(ingestWay(bus, graph.topics, metrics, prefix), arrivals);
  return { way, subscribers };
}

/** @param chained whether each stage does the work of the one before it, and more */
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
      const records = roundOfEvents();
      return () => way(records);
    };
    const stageNs = await cpuOfRounds(prepare, CHANNELS.length, rounds, WARM_UP_ROUNDS);
    await bus.stop();
    const before = chained ? measurements.at(-1) : undefined;
    measurements.push({ name, stageNs, addedNs: before ? stageNs - before.stageNs : null });
  }
  return measurements;
}

const url = process.env['REDIS_URL'] || undefined;
const where = `${CHANNELS.length.toLocaleString('en')} channels, ${url === undefined ? 'memory bus' : 'Redis'}`;

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
