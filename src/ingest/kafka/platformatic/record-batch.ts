import { leaderEpochOf } from '../../../events/log-position.ts';
import type { KafkaRecord } from '../../record.ts';
import type { BadBatch, RecordBatch } from '../driver.ts';
import type { DecodedRecords } from './record-batches.ts';
import type { MemberPartition } from './member-partition.ts';

/** What a batch needs from the session in which it was fetched. */
export interface BatchSession {
  heartbeat(): Promise<void>;
  /** @param leaderEpoch of the record before. Undefined: not known */
  commit(partition: MemberPartition, nextOffset: number, leaderEpoch: number | undefined): Promise<void>;
  pause(partition: MemberPartition): () => void;
  isAssigned(): boolean;
  isRunning(): boolean;
}

export class PlatformaticBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  readonly bad: BadBatch | undefined;
  readonly highWatermark: number;
  readonly #session: BatchSession;
  readonly #partition: MemberPartition;

  constructor(session: BatchSession, partition: MemberPartition, { records, bad, next }: DecodedRecords) {
    this.topic = partition.topic;
    this.partition = partition.partition;
    this.records = records;
    this.bad = records.length === 0 ? bad : undefined;
    this.highWatermark = partition.highWatermark ?? next;
    this.#session = session;
    this.#partition = partition;
  }

  heartbeat(): Promise<void> {
    return this.#session.heartbeat();
  }

  commit(nextOffset: number): Promise<void> {
    const last = this.records.findLast(({ offset }) => offset < nextOffset);
    return this.#session.commit(this.#partition, nextOffset, last && leaderEpochOf(last));
  }

  pause(): () => void {
    return this.#session.pause(this.#partition);
  }

  isAssigned(): boolean {
    return this.#session.isAssigned();
  }

  isRunning(): boolean {
    return this.#session.isRunning();
  }
}
