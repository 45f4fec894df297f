import type { Topic } from '../../../../src/graph/graph.ts';
import { BadBatches } from '../../../../src/ingest/kafka/bad-batches.ts';
import { BatchProcessor } from '../../../../src/ingest/kafka/batch-processor.ts';
import type { BadBatch, RecordBatch } from '../../../../src/ingest/kafka/driver.ts';
import { LettersInHand } from '../../../../src/ingest/kafka/letters-in-hand.ts';
import type { EventSpans } from '../../../../src/ingest/event-spans.ts';
import type { KafkaRecord } from '../../../../src/ingest/record.ts';
import type { Clock } from '../../../../src/support/clock.ts';
import { DeadLetters, type DeadLetterMessage } from '../../../../src/ingest/dead-letter.ts';
import { decodeMessage } from '../../../../src/events/message.ts';
import type { IngestStep } from '../../../../src/events/trace.ts';
import type { ByteSource } from '../../../../src/support/byte-budget.ts';
import { roomForRecords, SOURCE_SETTINGS } from '../../../helpers/source-settings.ts';
import { Pipeline } from '../../../../src/ingest/pipeline.ts';
import type { Schemas } from '../../../../src/ingest/schemas/codec.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { RecordingPublisher, readableLog, record, topic, topics } from '../parts.ts';

/** More turns than a large chunk takes until it is published. */
const TURNS_OF_PATIENCE = 100;

/** Backoff waits end in the next turn of the loop, patience some turns later; heartbeats in between never become due. */
class HastyClock implements Clock {
  readonly waits: number[] = [];
  now = () => 0;
  random = () => 1;
  sleep = (ms: number, signal: AbortSignal) => {
    const isBeat = ms === 1_000;
    const isPatience = ms === 2_000;
    if (!isBeat && !isPatience) this.waits.push(ms);
    return new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      let turns = isPatience ? TURNS_OF_PATIENCE : 1;
      const turn = (): void => void ((turns -= 1) === 0 ? resolve() : setImmediate(turn));
      if (!isBeat) setImmediate(turn);
    });
  };
}

interface Parts extends Partial<Topic> {
  readonly policy?: 'stop' | 'skip';
  readonly spans?: EventSpans;
  readonly schemas?: Schemas;
  readonly records?: ByteSource;
  readonly maxFanoutBytes?: number;
}

const placeAndReason = ({ headers }: DeadLetterMessage) => [
  headers['sluice-offset'],
  headers['sluice-reason'],
];

/** A consumer of the topic `bids`. `buriedAs` tells its dead letters, each with offset and reason. */
export function setUp({
  policy = 'stop',
  spans,
  schemas,
  records = roomForRecords(),
  maxFanoutBytes = SOURCE_SETTINGS.MAX_EVENT_FANOUT_BYTES,
  ...options
}: Parts = {}) {
  const publisher = new RecordingPublisher();
  const clock = new HastyClock();
  const metrics = new Metrics();
  const { log, lines } = readableLog();
  const aborting = new AbortController();
  const stopping = aborting.signal;
  const buried: DeadLetterMessage[] = [];
  const steps: IngestStep[] = [];
  const trace = { listener: (step: object): void => void steps.push(step as IngestStep) };
  const sink = {
    failing: false,
    stop: () => Promise.resolve(),
    async send(messages: readonly DeadLetterMessage[]): Promise<void> {
      if (this.failing) throw new Error('Kafka is away');
      buried.push(...messages);
    },
  };
  /** Why nothing is to be consumed. */
  const hold: { reason: string | undefined } = { reason: undefined };
  const shared = { metrics, log, clock, stopping };
  const letters = new LettersInHand({ ...shared, sink });
  const badBatches = new BadBatches({ ...shared, policy, sink: letters });
  const pipeline = new Pipeline({
    topics: topics(topic('bids', options)),
    prefix: '',
    maxAgeSeconds: 0,
    metrics,
    log,
    now: clock.now,
    trace,
    schemas,
  });
  const processor = new BatchProcessor({
    ...shared,
    pipeline,
    publisher,
    records,
    maxFanoutBytes,
    hold: () => hold.reason,
    deadLetters: new DeadLetters({ sink: letters, metrics, log, now: clock.now, trace }),
    letters,
    badBatches,
    trace,
    spans,
  });
  const consume = async (given: FakeBatch | string[]): Promise<FakeBatch> => {
    const batch = given instanceof FakeBatch ? given : new FakeBatch(given);
    await processor.process(batch);
    return batch;
  };
  /** What has been published. */
  const offsets = () => publisher.published.map(({ payload }) => decodeMessage(payload)?.o);
  const buriedAs = () => buried.map(placeAndReason);
  const doubles = { publisher, sink, buried, clock, metrics, lines, steps, hold, aborting };
  return { ...doubles, processor, letters, badBatches, consume, offsets, buriedAs };
}

/** What a driver would hand over, and what was done with it. */
export class FakeBatch implements RecordBatch {
  readonly topic = 'bids';
  readonly partition = 0;
  readonly records: readonly KafkaRecord[];
  readonly bad: BadBatch | undefined;
  readonly highWatermark: number;
  /** The next offset of each commit. */
  readonly committed: number[] = [];
  beats = 0;
  pauses = 0;
  resumes = 0;
  running = true;
  assigned = true;
  onHeartbeat: () => void = () => undefined;

  constructor(values: string[], keys: readonly (string | Buffer | undefined)[] = [], bad?: BadBatch) {
    this.records = values.map((value, offset) => {
      const key = keys[offset];
      const place = { partition: 0, offset, timestamp: 0 };
      return record(value, { ...place, key: key === undefined ? null : Buffer.from(key) });
    });
    this.bad = bad;
    this.highWatermark = bad === undefined ? values.length : 10;
  }

  pause() {
    this.pauses += 1;
    return () => void (this.resumes += 1);
  }

  async heartbeat() {
    this.beats += 1;
    this.onHeartbeat();
  }

  async commit(nextOffset: number) {
    this.committed.push(nextOffset);
  }

  isAssigned() {
    return this.assigned;
  }

  isRunning() {
    return this.running;
  }
}

export const events = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`);
