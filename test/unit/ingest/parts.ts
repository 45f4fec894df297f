import type { Stream, Topic } from '../../../src/graph/graph.ts';
import { createLog, type Log } from '../../../src/log.ts';
import { PublishError, type Publication, type Publisher } from '../../../src/events/publisher.ts';
import { LocalSource, type LocalSourceOptions } from '../../../src/ingest/local-source.ts';
import type { KafkaRecord } from '../../../src/ingest/record.ts';
import { SOURCE_SETTINGS } from '../../helpers/source-settings.ts';
import { Metrics } from '../../../src/metrics.ts';

/** A topic that is a stream of its own, with this history. */
export function topic(
  name: string,
  { history, ...options }: Partial<Topic> & Omit<Stream, 'name'> = {},
): Topic {
  const streams = [{ name, history }];
  return { name, streams, keyStyle: 'SNAKE', keys: [], kafkaKey: undefined, decode: undefined, ...options };
}

export function topics(...all: Topic[]): ReadonlyMap<string, Topic> {
  return new Map(all.map((one) => [one.name, one]));
}

export function record(value: string | Buffer | null, options: Partial<KafkaRecord> = {}): KafkaRecord {
  return {
    topic: 'bids',
    topicId: undefined,
    partition: 2,
    offset: 7,
    epoch: undefined,
    timestamp: 1_000,
    key: null,
    value: typeof value === 'string' ? Buffer.from(value) : value,
    headers: undefined,
    ...options,
  };
}

/** A log whose lines can be read. */
export function readableLog(level = 'trace'): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(level, {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  return { log, lines };
}

/** What publishes by hand, with all that it needs and the test does not name. */
export function localSource(options: Partial<LocalSourceOptions> = {}) {
  const publisher = new RecordingPublisher();
  const metrics = new Metrics();
  const { log } = readableLog();
  const maxFanoutBytes = SOURCE_SETTINGS.MAX_EVENT_FANOUT_BYTES;
  const needed = { topics: topics(topic('bids')), prefix: '', publisher, maxFanoutBytes, metrics, log };
  return { source: new LocalSource({ ...needed, ...options }), publisher, metrics };
}

/** Takes all publications and keeps them; but those of a batch that `failing` returns. */
export class RecordingPublisher implements Publisher {
  readonly published: Publication[] = [];
  /** The streams that were published to, one for each attempt. */
  readonly streams: string[] = [];
  attempts = 0;
  readonly asked: (readonly string[])[] = [];
  failing: (batch: readonly Publication[]) => readonly Publication[] = () => [];
  /** Whether a channel has subscribers. */
  wants: (channel: string) => boolean = () => true;

  async subscribed(_topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    this.asked.push(channels);
    return new Set(channels.filter(this.wants));
  }

  publish(stream: string, batch: readonly Publication[]): Promise<void> {
    this.attempts += 1;
    this.streams.push(stream);
    const failed = this.failing(batch);
    this.published.push(...batch.filter((publication) => !failed.includes(publication)));
    return failed.length === 0
      ? Promise.resolve()
      : Promise.reject(new PublishError(failed, batch.length, new Error('the bus is away')));
  }
}
