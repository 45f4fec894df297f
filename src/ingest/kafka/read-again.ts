import type { Consumption, ConsumedTopic, LogRange, Reader } from '../../events/consumption.ts';
import { leaderEpochOf } from '../../events/log-position.ts';
import { DecodeError } from '../../events/decode-error.ts';
import type { Topic } from '../../graph/graph.ts';
import { createLog } from '../../log.ts';
import { Metrics } from '../../metrics.ts';
import { Pipeline, type PipelineOptions } from '../pipeline.ts';
import type { KafkaRecord } from '../record.ts';
import { tooLarge, tooWide } from '../record-bytes.ts';
import { RoutedEvent } from '../routed-event.ts';
import type { KafkaDriver, LogName, PartitionPosition } from './driver.ts';

interface ReadAgainOptions {
  readonly driver: Pick<KafkaDriver, 'read'>;
  /** As records are routed that are published. */
  readonly routing: Pick<PipelineOptions, 'topics' | 'prefix' | 'maxAgeSeconds' | 'now'>;
  /** A larger record became a dead letter. */
  readonly maxRecordBytes: number;
  /** Bytes times channels of one event; one with more became a dead letter. */
  readonly maxFanoutBytes: number;
  /** Of the partitions of this process. */
  readonly positions: () => readonly PartitionPosition[];
  /** Offset of the last record of a partition that may have been published beyond its position. */
  readonly published: (topic: string, partition: number) => number | undefined;
}

/** Reads from Kafka once more what pods may have missed on its way over the bus. */
export class ReadAgain implements Consumption {
  readonly #options: ReadAgainOptions;
  /** Counts and tells nothing, as what it routes has been counted before. */
  readonly #pipeline: Pipeline;

  constructor(options: ReadAgainOptions) {
    this.#options = options;
    const unseen = { metrics: new Metrics(), log: createLog('silent') };
    this.#pipeline = new Pipeline({ ...options.routing, maxAgeSeconds: 0, ...unseen });
  }

  use(topics: ReadonlyMap<string, Topic>): void {
    this.#pipeline.use(topics);
  }

  topics(): readonly ConsumedTopic[] {
    const { positions, published } = this.#options;
    const topics = new Map<
      string,
      { topic: string; count: number; partitions: ConsumedTopic['partitions'] }
    >();
    for (const at of positions()) {
      const { topic, partition, position: next, leaderEpoch } = at;
      const until = Math.max(next, (published(topic, partition) ?? -1) + 1);
      const known = topics.get(topic) ?? { topic, count: at.partitions, partitions: [] };
      const one = { partition, log: writeLogName(at), next, leaderEpoch, until };
      topics.set(topic, { ...known, partitions: [...known.partitions, one] });
    }
    return [...topics.values()];
  }

  async read(topic: string, ranges: readonly LogRange[], reader: Reader, signal: AbortSignal): Promise<void> {
    const { driver } = this.#options;
    const epochs = new Map(ranges.map(({ partition, leaderEpoch }) => [partition, leaderEpoch]));
    const take = async (records: readonly KafkaRecord[]): Promise<void> => {
      for (const record of records) {
        this.#check(record, epochs.get(record.partition));
        await reader.ready();
        await this.#passOn(record, reader);
      }
    };
    const named = ranges.map(({ log, ...range }) => ({ ...range, ...readLogName(log) }));
    await driver.read(topic, named, take, signal);
  }

  /** @throws if it is not known that this record was published */
  #check(record: KafkaRecord, leaderEpoch: number | undefined): void {
    const { maxAgeSeconds, now } = this.#options.routing;
    const epoch = leaderEpochOf(record);
    if (epoch !== leaderEpoch)
      throw new Error(`expected records of leader epoch ${leaderEpoch}, got one of ${epoch}`);
    if (maxAgeSeconds > 0 && record.timestamp >= 0 && now() - record.timestamp > maxAgeSeconds * 1_000)
      throw new Error(`expected events of the last ${maxAgeSeconds} s, got an older one`);
  }

  async #passOn(record: KafkaRecord, { wants, passOn }: Reader): Promise<void> {
    const { maxRecordBytes, maxFanoutBytes } = this.#options;
    if (tooLarge(record, maxRecordBytes) !== undefined) return;
    const routed = await this.#pipeline.route(record);
    if (!(routed instanceof RoutedEvent) || !routed.channels.some(wants)) return;
    const encoded = await routed.encode();
    if (encoded === undefined || encoded instanceof DecodeError) return;
    if (tooWide(encoded, encoded.channels.length, maxFanoutBytes) !== undefined) return;
    for (const channel of encoded.channels) if (wants(channel)) passOn(channel, encoded.payload);
  }
}

/** Topic ids have no `/`. */
function writeLogName({ topicId = '', resets }: LogName): string {
  return `${topicId}/${resets}`;
}

function readLogName(text: string): LogName {
  const [topicId = '', resets = ''] = text.split('/');
  return { topicId: topicId === '' ? undefined : topicId, resets: Number(resets) };
}
