import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import type { Bus } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { RedisBus } from '../../src/bus/redis-bus.ts';
import { Executor } from '../../src/executor/executor.ts';
import type { Operation } from '../../src/executor/operation.ts';
import { loadGraph, type LoadedGraph } from '../../src/graph/loader/load-graph.ts';
import { BoundedLabels } from '../../src/support/bounded-labels.ts';
import { Flusher } from '../../src/transports/websocket/flusher.ts';
import { Hub } from '../../src/hub/hub.ts';
import { Limiter } from '../../src/support/limiter.ts';
import type { Subscriber } from '../../src/hub/subscriber.ts';
import type { SerializedResult } from '../../src/hub/result.ts';
import { BatchProcessor, type KafkaBatch } from '../../src/ingest/kafka/batch-processor.ts';
import { systemClock } from '../../src/support/clock.ts';
import { DeadLetters } from '../../src/ingest/dead-letter.ts';
import { Pipeline } from '../../src/ingest/pipeline.ts';
import type { Publisher } from '../../src/events/publisher.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { contextsOver } from './gateway-contexts.ts';

const TOPIC = 'loadtest';
const QUERY = 'subscription ($channel: ID) { update(channel: $channel) { channel seq sent_at body_text } }';
const log = createLog('warn');

export function flatGraph(): Promise<LoadedGraph> {
  return loadGraph(path.join(import.meta.dirname, '../../../loadtest/graphs/flat'));
}

/** A bus that has been reached: Redis if there is a URL, else memory. */
export async function openBus(url: string | undefined, metrics: Metrics): Promise<Bus> {
  const common = { lingerMs: 0, metrics, log };
  const bus =
    url === undefined
      ? new MemoryBus(common)
      : new RedisBus({ ...common, url, ca: undefined, countsSubscribers: true });
  bus.start();
  while (bus.notReady() !== undefined) await setImmediate();
  return bus;
}

/** The way from Kafka's bytes to a publisher. */
export function ingestTo(
  publisher: Publisher,
  topics: LoadedGraph['topics'],
  prefix: string,
  metrics: Metrics,
) {
  const pipeline = new Pipeline({
    topics,
    prefix,
    maxAgeSeconds: 0,
    metrics,
    log,
    now: systemClock.now,
  });
  return new BatchProcessor({
    pipeline,
    publisher,
    deadLetters: new DeadLetters({ sink: undefined, metrics, log, now: systemClock.now }),
    metrics,
    log,
    clock: systemClock,
    stopping: new AbortController().signal,
  });
}

/** A hub with its executor, or with one that does nothing. */
export function hubOn(
  bus: Bus,
  graph: LoadedGraph,
  channelPrefix: string,
  metrics: Metrics,
  execute?: Executor['execute'],
) {
  const real = new Executor({ schema: graph.schema, cacheSize: 10, log });
  const executor = {
    subscriptionField: (...asked: Parameters<Executor['subscriptionField']>) =>
      real.subscriptionField(...asked),
    execute: execute ?? ((...run: Parameters<Executor['execute']>) => real.execute(...run)),
  };
  const hub = new Hub({
    graph,
    contexts: contextsOver(0, graph.definition).contexts,
    bus,
    executor,
    budget: new Flusher(Date.now, () => undefined),
    limiter: new Limiter(200),
    paths: new BoundedLabels(),
    metrics,
    log,
    maxWaiting: 100,
    timeoutMs: 10_000,
    channelPrefix,
    maxChannels: 100,
  });
  const operation = real.prepare(QUERY) as Operation;
  return { hub, operation };
}

/** Counts what it is handed, and keeps the last. */
export class Counting implements Subscriber {
  readonly viewer = {};
  readonly #tally: Tally;
  last: SerializedResult | undefined;
  count = 0;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  deliver(payload: SerializedResult): void {
    this.last = payload;
    this.count += 1;
    this.#tally.add();
  }

  end(): void {
    throw new Error('expected nobody to be sent away');
  }
}

/** Tells when everything has arrived. */
export class Tally {
  #left = 0;
  #done: () => void = () => undefined;

  expect(count: number): Promise<void> {
    this.#left = count;
    return new Promise((resolve) => (this.#done = resolve));
  }

  add(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
}

/** A batch as kafkajs hands it over, all of it of one partition. */
export function batchOf(messages: readonly KafkaMessage[]): KafkaBatch {
  return {
    batch: { topic: TOPIC, partition: 0, messages },
    resolveOffset: () => undefined,
    heartbeat: () => Promise.resolve(),
    commitOffsetsIfNecessary: () => Promise.resolve(),
    uncommittedOffsets: () => ({ topics: [] }),
    isRunning: () => true,
    isStale: () => false,
  };
}
