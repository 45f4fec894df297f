import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Bus } from '../../src/bus/bus.ts';
import type { TracedSteps } from '../../src/events/trace.ts';
import { MemoryBus } from '../../src/bus/memory-bus.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { Executor } from '../../src/executor/executor.ts';
import type { Operation } from '../../src/executor/operation.ts';
import { loadGraph, type LoadedGraph } from '../../src/graph/loader/load-graph.ts';
import type { Subscriber } from '../../src/hub/subscriber.ts';
import type { SerializedResult } from '../../src/hub/result.ts';
import { BadBatches } from '../../src/ingest/kafka/bad-batches.ts';
import { BatchProcessor } from '../../src/ingest/kafka/batch-processor.ts';
import { ByteBudget } from '../../src/support/byte-budget.ts';
import { systemClock } from '../../src/support/clock.ts';
import { DeadLetters } from '../../src/ingest/dead-letter.ts';
import { Pipeline } from '../../src/ingest/pipeline.ts';
import type { KafkaRecord } from '../../src/ingest/record.ts';
import type { Publisher } from '../../src/events/publisher.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { contextsOver } from './gateway-contexts.ts';
import { benchHub } from './hub-parts.ts';
import { batchOf } from './ingest-events.ts';

const QUERY = 'subscription ($channel: ID) { update(channel: $channel) { channel seq sent_at body_text } }';
const log = createLog('warn');

export function flatGraph(): Promise<LoadedGraph> {
  return loadGraph(path.join(import.meta.dirname, '../../../loadtest/graphs/flat'));
}

/** More bytes than a round of events takes. */
const ROOM_BYTES = 64 * 1024 * 1024;

/** Returns a bus that is connected: Redis if there is a URL, else memory. */
export async function openBus(url: string | undefined, metrics: Metrics): Promise<Bus> {
  const common = { lingerMs: 0, metrics, log };
  const bus =
    url === undefined
      ? new MemoryBus(common)
      : ioredisBus({ ...common, access: { url }, prefix: 'micro:', countsSubscribers: true });
  bus.start();
  while (bus.notReady() !== undefined) await setImmediate();
  return bus;
}

/** Processes a round of events. Resolves when no work on it is under way any more. */
export type Way = (records: readonly KafkaRecord[]) => Promise<void>;

/** From Kafka's bytes to a publisher. @param trace undefined: no steps are recorded */
export function ingestWay(
  publisher: Publisher,
  topics: LoadedGraph['topics'],
  metrics: Metrics,
  prefix: string,
  trace?: TracedSteps,
): Way {
  const pipeline = new Pipeline({
    topics,
    prefix,
    maxAgeSeconds: 0,
    metrics,
    log,
    now: systemClock.now,
    trace,
  });
  const common = { metrics, log, clock: systemClock, stopping: new AbortController().signal };
  const processor = new BatchProcessor({
    ...common,
    trace,
    pipeline,
    publisher,
    records: new ByteBudget(ROOM_BYTES).source({ least: ROOM_BYTES }),
    maxFanoutBytes: ROOM_BYTES,
    deadLetters: new DeadLetters({ sink: undefined, metrics, log, now: systemClock.now }),
    badBatches: new BadBatches({ ...common, policy: 'stop', sink: undefined }),
  });
  return async (records) => {
    // The processor leaves a batch that takes long before its end; the rest is handed over again.
    let next = records[0]?.offset ?? 0;
    for (let rest = records; rest.length > 0; rest = rest.filter(({ offset }) => offset >= next)) {
      await processor.process(batchOf(rest, (nextOffset) => void (next = nextOffset)));
    }
  };
}

/** Adds the wait until each event has arrived once. */
export function untilArrived(way: Way, arrivals: Arrivals): Way {
  return async (records) => {
    const all = arrivals.expect(records.length);
    await way(records);
    await all;
  };
}

/** A hub with its executor, or with `execute` in its place. */
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
    failure: (...failed: Parameters<Executor['failure']>) => real.failure(...failed),
    unserialisable: (...failed: Parameters<Executor['unserialisable']>) => real.unserialisable(...failed),
  };
  const { contexts } = contextsOver(0, graph.definition);
  const hub = benchHub({ graph, contexts, bus, executor, metrics, log, channelPrefix });
  const operation = real.prepare(QUERY) as Operation;
  return { hub, operation };
}

/** Counts its results, and keeps the last one. */
export class CountingSubscriber implements Subscriber {
  readonly viewer = {};
  readonly owner: object = this;
  readonly wantsGaps = false;
  readonly isBehind = false;
  readonly #arrivals: Arrivals;
  last: SerializedResult | undefined;
  count = 0;

  constructor(arrivals: Arrivals) {
    this.#arrivals = arrivals;
  }

  deliver(payload: SerializedResult): void {
    this.last = payload;
    this.count += 1;
    this.#arrivals.add();
  }

  reconnect(): void {
    throw new Error('expected no gap, but the subscriber is to connect again');
  }

  end(): void {
    throw new Error('expected the hub to keep the subscriber, but it ended it');
  }
}

/** Resolves a promise when the expected number of events have arrived. */
export class Arrivals {
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
