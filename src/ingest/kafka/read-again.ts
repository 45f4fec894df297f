import type {
  ConsumedPartition,
  ConsumedTopic,
  Consumption,
  LogRange,
  Reader,
} from '../../events/consumption.ts';
import { DecodeError, type DecodeErrorReason } from '../../events/decode-error.ts';
import { leaderEpochOf, type LogPosition } from '../../events/log-position.ts';
import type { Topic } from '../../graph/graph.ts';
import { topicNamed } from '../../graph/topics.ts';
import { createLog } from '../../log.ts';
import { Metrics } from '../../metrics.ts';
import { Pipeline, type PipelineOptions } from '../pipeline.ts';
import type { KafkaRecord } from '../record.ts';
import { tooLarge, tooWide } from '../record-bytes.ts';
import { channelsIn, payloadIn, RoutedEvent } from '../routed-event.ts';
import type { KafkaDriver, LogName, PartitionPosition, RecordBatch, RecordRange } from './driver.ts';

interface ReadAgainOptions {
  readonly driver: Pick<KafkaDriver, 'read'>;
  /** How records are routed: like those that are published. */
  readonly routing: Pick<PipelineOptions, 'topics' | 'prefix' | 'maxAgeSeconds' | 'now' | 'schemas'>;
  /** A larger record is not decoded. */
  readonly maxRecordBytes: number;
  /** Bytes times channels of one event. */
  readonly maxFanoutBytes: number;
  /** The topics of a stream that this process knows of. */
  readonly topicsOf: (stream: string) => readonly string[];
  /** One for each partition that this process has for certain. @param topic undefined: of all */
  readonly positions: (topic?: string) => readonly PartitionPosition[];
  /** The last record of a partition that may have been published beyond its position. */
  readonly published: (topic: string, partition: number) => LogPosition | undefined;
}

/** Faults that one process may find in a record, and another not. */
const OF_THE_PROCESS: ReadonlySet<DecodeErrorReason> = new Set([
  'bad_schema',
  'unknown_schema',
  'decode_failed',
  'too_large',
  'too_slow',
  'too_wide',
]);

/** Reads events again from Kafka that pods may have missed on the bus. */
export class ReadAgain implements Consumption {
  readonly #options: ReadAgainOptions;
  #topics: ReadonlyMap<string, Topic>;
  /** Counts and logs nothing, as its records have been counted before. */
  readonly #pipeline: Pipeline;
  /** When this process last got its partitions: ms. */
  #assignedAt = -Infinity;
  /** Where the partitions began then, by topic and partition. */
  #starts: ReadonlyMap<string, number> = new Map();
  /** The first record of the last leader epoch that has been met since, by topic and partition. */
  readonly #firstOfEpoch = new Map<string, LogPosition>();

  constructor(options: ReadAgainOptions) {
    this.#options = options;
    const { routing } = options;
    this.#topics = routing.topics;
    const unseen = { metrics: new Metrics(), log: createLog('silent') };
    const topics = withoutKafkaKeys(routing.topics);
    this.#pipeline = new Pipeline({ ...routing, topics, maxAgeSeconds: 0, takesCopies: true, ...unseen });
  }

  use(topics: ReadonlyMap<string, Topic>): void {
    this.#topics = topics;
    this.#pipeline.use(withoutKafkaKeys(topics));
  }

  /** This process has been given partitions, and none of their records yet. @param now ms */
  assigned(now: number): void {
    this.#assignedAt = now;
    this.#starts = new Map(this.#options.positions().map((at) => [keyOf(at), at.position]));
    this.#firstOfEpoch.clear();
  }

  /** The batch is about to be published. */
  handed(batch: Pick<RecordBatch, 'topic' | 'partition' | 'records'>): void {
    const key = keyOf(batch);
    const { epoch } = batch.records.at(-1) ?? {};
    const known = this.#firstOfEpoch.get(key)?.epoch;
    // Epochs go up along a log; a batch may be handed over once more.
    if (epoch === undefined || (known !== undefined && epoch <= known)) return;
    const first = batch.records.find((record) => record.epoch === epoch);
    if (first !== undefined) this.#firstOfEpoch.set(key, { offset: first.offset, epoch });
  }

  topicsOf(stream: string): readonly string[] {
    return this.#options.topicsOf(stream);
  }

  isOf(stream: string, topic: string): boolean {
    return topicNamed(this.#topics, topic)?.streams.some(({ name }) => name === stream) === true;
  }

  topics(topic?: string): readonly ConsumedTopic[] {
    const topics = new Map<string, ConsumedTopic & { readonly partitions: ConsumedPartition[] }>();
    for (const at of this.#options.positions(topic)) {
      const known = topics.get(at.topic);
      if (known !== undefined) known.partitions.push(this.#consumed(at));
      else topics.set(at.topic, { topic: at.topic, count: at.partitions, partitions: [this.#consumed(at)] });
    }
    return [...topics.values()];
  }

  #consumed(at: PartitionPosition): ConsumedPartition {
    const { topic, partition, position: next, leaderEpoch } = at;
    const last = this.#options.published(topic, partition);
    const [until, lastEpoch] =
      last === undefined || last.offset < next ? [next, leaderEpoch] : [last.offset + 1, leaderEpochOf(last)];
    const held = { assignedAt: this.#assignedAt, start: this.#starts.get(keyOf(at)) ?? next };
    const first = this.#firstOfEpoch.get(keyOf(at));
    const lastFrom = first !== undefined && leaderEpochOf(first) === lastEpoch ? first.offset : undefined;
    return { partition, ...held, log: writeLogName(at), next, leaderEpoch, until, lastEpoch, lastFrom };
  }

  async read(topic: string, ranges: readonly LogRange[], reader: Reader, signal: AbortSignal): Promise<void> {
    const expected = new Map(ranges.map((range) => [range.partition, range]));
    const last = new Map<number, KafkaRecord>();
    const take = async (records: readonly KafkaRecord[]): Promise<void> => {
      for (const record of records) {
        const { leaderEpoch, lastEpoch, lastFrom } = expected.get(record.partition) ?? {};
        // Epochs go up along a log.
        if ((leaderEpochOf(record) ?? 0) > (lastEpoch ?? 0)) checkEpoch(record, lastEpoch);
        // The publisher reports no epochs between the two: a record of such an epoch may have replaced another record.
        if (lastFrom !== undefined) checkEpoch(record, record.offset < lastFrom ? leaderEpoch : lastEpoch);
        this.#checkAge(record);
        last.set(record.partition, record);
        await reader.ready();
        await this.#passOn(record, reader);
      }
    };
    const named = ranges.map(({ partition, log, leaderEpoch, from, until }): RecordRange => {
      return { partition, ...readLogName(log), leaderEpoch, from, until };
    });
    await this.#options.driver.read(topic, named, take, signal);
    for (const [partition, record] of last) checkEpoch(record, expected.get(partition)?.lastEpoch);
  }

  /** @throws if the record may have been too old to be published */
  #checkAge(record: KafkaRecord): void {
    const { maxAgeSeconds, now } = this.#options.routing;
    if (maxAgeSeconds > 0 && record.timestamp >= 0 && now() - record.timestamp > maxAgeSeconds * 1_000)
      throw new Error(`expected events of the last ${maxAgeSeconds} s, got an older one`);
  }

  /** @throws if it is unknown whether the record was published */
  async #passOn(record: KafkaRecord, { wants, passOn }: Reader): Promise<void> {
    const { maxRecordBytes, maxFanoutBytes } = this.#options;
    const routed = tooLarge(record, maxRecordBytes) ?? (await this.#pipeline.route(record));
    if (routed instanceof DecodeError && OF_THE_PROCESS.has(routed.reason)) throw routed;
    if (!(routed instanceof RoutedEvent) || !routed.channels.some(wants)) return;
    const encoded = await routed.encode();
    if (encoded instanceof DecodeError && OF_THE_PROCESS.has(encoded.reason)) throw encoded;
    if (encoded === undefined || encoded instanceof DecodeError) return;
    const wide = tooWide(encoded, encoded.channels.length, maxFanoutBytes);
    if (wide !== undefined) throw wide;
    for (const [index, stream] of routed.streams.entries()) {
      const wanted = channelsIn(encoded.channels, routed.streams, index).filter(wants);
      const payload = payloadIn(encoded.payload, stream, record);
      for (const channel of wanted) passOn(channel, payload);
    }
  }
}

/** @throws if the record has replaced the one that was published */
function checkEpoch(record: KafkaRecord, expected: number | undefined): void {
  const epoch = leaderEpochOf(record);
  if (epoch !== expected)
    throw new Error(`expected record ${record.offset} of leader epoch ${expected}, got one of ${epoch}`);
}

/** Makes all records be decoded: it is unknown whether, for other pods, keys have held what the schema says. */
function withoutKafkaKeys(topics: ReadonlyMap<string, Topic>): ReadonlyMap<string, Topic> {
  return new Map([...topics].map(([name, topic]) => [name, { ...topic, kafkaKey: undefined }]));
}

function keyOf({ topic, partition }: Pick<PartitionPosition, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}

/** Topic ids have no `/`. */
function writeLogName({ topicId = '', resets }: LogName): string {
  return `${topicId}/${resets}`;
}

function readLogName(text: string): LogName {
  const [topicId = '', resets = ''] = text.split('/');
  return { topicId: topicId === '' ? undefined : topicId, resets: Number(resets) };
}
