import type { RecordBatch } from '../../../src/ingest/kafka/driver.ts';
import type { KafkaRecord } from '../../../src/ingest/record.ts';
import type { StoredRecord } from './cluster.ts';
import type { TopicPartition } from './group.ts';

interface Options extends Pick<RecordBatch, 'heartbeat' | 'commit' | 'pause' | 'isAssigned' | 'isRunning'> {
  readonly at: TopicPartition;
  readonly records: readonly StoredRecord[];
  readonly highWatermark: number;
}

/** What one fetch has brought of one partition. */
export class SimulatedBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  readonly bad = undefined;
  readonly highWatermark: number;
  readonly heartbeat: () => Promise<void>;
  readonly commit: (nextOffset: number) => Promise<void>;
  readonly pause: () => () => void;
  readonly isAssigned: () => boolean;
  readonly isRunning: () => boolean;

  constructor({ at, records, highWatermark, ...member }: Options) {
    const { topic, topicId, partition } = at;
    this.topic = topic;
    this.partition = partition;
    this.records = records.map(({ headers, ...record }) => ({
      ...record,
      topic,
      topicId,
      partition,
      headers,
    }));
    this.highWatermark = highWatermark;
    this.heartbeat = member.heartbeat;
    this.commit = member.commit;
    this.pause = member.pause;
    this.isAssigned = member.isAssigned;
    this.isRunning = member.isRunning;
  }
}
