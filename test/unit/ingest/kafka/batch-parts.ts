import type { BadBatch, KafkaMessage } from 'kafkajs';
import type { Topic } from '../../../../src/graph/graph.ts';
import { BadBatches } from '../../../../src/ingest/kafka/bad-batches.ts';
import { BatchProcessor } from '../../../../src/ingest/kafka/batch-processor.ts';
import type { KafkaBatch } from '../../../../src/ingest/kafka/kafka-batch.ts';
import type { Clock } from '../../../../src/support/clock.ts';
import { DeadLetters, type DeadLetterMessage } from '../../../../src/ingest/dead-letter.ts';
import { decodeMessage } from '../../../../src/events/message.ts';
import { Pipeline } from '../../../../src/ingest/pipeline.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { RecordingPublisher, readableLog, topic, topics } from '../parts.ts';

/** Backoff waits end in the next turn of the loop; heartbeats in between never become due. */
class HastyClock implements Clock {
  readonly waits: number[] = [];
  now = () => 0;
  random = () => 1;
  sleep = (ms: number, signal: AbortSignal) => {
    const isBeat = ms === 1_000;
    if (!isBeat) this.waits.push(ms);
    return new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (!isBeat) setImmediate(resolve);
    });
  };
}

export function setUp(keys: string[] = [], options: Partial<Topic> = {}, policy: 'stop' | 'skip' = 'stop') {
  const publisher = new RecordingPublisher();
  const clock = new HastyClock();
  const metrics = new Metrics();
  const { log, lines } = readableLog();
  const stopping = new AbortController();
  const buried: DeadLetterMessage[] = [];
  const sink = {
    failing: false,
    send(messages: readonly DeadLetterMessage[]) {
      if (this.failing) return Promise.reject(new Error('Kafka is away'));
      buried.push(...messages);
      return Promise.resolve();
    },
  };
  const processor = new BatchProcessor({
    pipeline: new Pipeline({
      topics: topics(topic('bids', { keys, ...options })),
      prefix: '',
      maxAgeSeconds: 0,
      metrics,
      log,
      now: clock.now,
    }),
    publisher,
    deadLetters: new DeadLetters({ sink, metrics, log, now: clock.now }),
    badBatches: new BadBatches({ policy, sink, metrics, log, clock, stopping: stopping.signal }),
    metrics,
    log,
    clock,
    stopping: stopping.signal,
  });
  return { publisher, clock, metrics, stopping, sink, buried, processor, lines };
}

/** What kafkajs would hand over, and what was done with it. */
export class FakeBatch implements KafkaBatch {
  readonly batch: KafkaBatch['batch'];
  readonly committed: string[] = [];
  resolved = '';
  beats = 0;
  pauses = 0;
  resumes = 0;
  running = true;
  stale = false;
  onHeartbeat: () => void = () => undefined;

  constructor(
    values: string[],
    keys: readonly (string | Buffer | undefined)[] = [],
    badBatch: BadBatch | null = null,
  ) {
    const messages = values.map((value, offset) => ({
      key: keys[offset] === undefined ? null : Buffer.from(keys[offset]),
      value: Buffer.from(value),
      offset: String(offset),
      timestamp: '0',
      attributes: 0,
    })) as unknown as KafkaMessage[];
    const highWatermark = String(values.length + (badBatch === null ? 0 : 10));
    this.batch = { topic: 'bids', partition: 0, messages, badBatch, highWatermark };
  }

  pause() {
    this.pauses += 1;
    return () => void (this.resumes += 1);
  }

  resolveOffset(offset: string) {
    this.resolved = offset;
  }

  async heartbeat() {
    this.beats += 1;
    this.onHeartbeat();
  }

  uncommittedOffsets() {
    return { topics: [{ topic: 'bids', partitions: [{ partition: 0, offset: this.resolved }] }] };
  }

  async commitOffsetsIfNecessary() {
    this.committed.push(this.resolved);
  }

  isRunning() {
    return this.running;
  }

  isStale() {
    return this.stale;
  }
}

export const events = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`);

export const offsetsOf = (publisher: RecordingPublisher) =>
  publisher.published.map(({ payload }) => decodeMessage(payload)?.o);

export const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);
