import type { RawHeaders } from '../../../src/ingest/record.ts';
import type { Owner, VirtualTime } from '../time/virtual-time.ts';

import { SimulatedGroup, type TopicPartition } from './group.ts';

export interface StoredRecord {
  readonly offset: number;
  readonly leaderEpoch: number;
  /** ms */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: RawHeaders;
}

/** Records that a client has skipped because it could not tell that the log had lost its end. */
interface PassedOver {
  readonly topicId: string;
  readonly partition: number;
  readonly records: readonly StoredRecord[];
}

export interface SimulatedTopic {
  readonly name: string;
  /** Each topic of the same name has another id. */
  readonly id: string;
  readonly partitions: StoredRecord[][];
  /** The epoch of the present leaders of all partitions; a record keeps the epoch in which it was appended. */
  leaderEpoch: number;
}

/** The brokers as one process: topics and consumer groups. */
export class SimulatedKafka {
  readonly time: VirtualTime;
  /** Pods that can't reach the brokers at present. */
  readonly cutOff = new Set<Owner>();
  readonly passedOver: PassedOver[] = [];
  isAvailable = true;

  readonly #topics = new Map<string, SimulatedTopic>();
  readonly #groups = new Map<string, SimulatedGroup>();
  /** Fetches that wait for a record. */
  readonly #waiting = new Set<() => void>();
  #made = 0;

  constructor(time: VirtualTime) {
    this.time = time;
  }

  /** Makes a topic, or makes it anew, empty and with another id. */
  create(name: string, partitions: number): void {
    this.#made += 1;
    this.#topics.set(name, {
      name,
      id: `${name}-${this.#made}`,
      partitions: Array.from({ length: partitions }, () => []),
      leaderEpoch: 0,
    });
    for (const group of this.#groups.values()) group.forget(name);
  }

  delete(name: string): void {
    this.#topics.delete(name);
    for (const group of this.#groups.values()) group.forget(name);
  }

  addPartitions(name: string, total: number): void {
    const { partitions } = this.topic(name);
    while (partitions.length < total) partitions.push([]);
  }

  /** Gives the topic's partitions other leaders, which have their complete logs. */
  elect(name: string): void {
    this.topic(name).leaderEpoch += 1;
  }

  /**
   * Gives the partitions other leaders, one of which lacks the last records: the next records get their offsets.
   *
   * @returns the offset from which on its log is lost
   */
  loseEnd(name: string, partition: number, records: number): number {
    this.elect(name);
    const log = this.#log(name, partition);
    log.length = Math.max(0, log.length - records);
    return log.length;
  }

  topic(name: string): SimulatedTopic {
    const topic = this.#topics.get(name);
    if (topic === undefined) throw new Error(`expected a topic that was made, got ${name}`);
    return topic;
  }

  names(): readonly string[] {
    return [...this.#topics.keys()];
  }

  has(name: string): boolean {
    return this.#topics.has(name);
  }

  /** @returns the record's offset */
  produce(name: string, partition: number, record: Pick<StoredRecord, 'key' | 'value' | 'headers'>): number {
    const { leaderEpoch } = this.topic(name);
    const log = this.#log(name, partition);
    const offset = log.length;
    log.push({ ...record, offset, leaderEpoch, timestamp: Math.floor(this.time.now) });
    for (const wake of this.#waiting) wake();
    return offset;
  }

  group(id: string): SimulatedGroup {
    const known = this.#groups.get(id);
    if (known !== undefined) return known;
    const group = new SimulatedGroup(this.time, (topics) => this.partitionsOf(topics));
    this.#groups.set(id, group);
    return group;
  }

  forgetGroup(id: string): boolean {
    if ((this.#groups.get(id)?.members ?? 0) > 0) return false;
    this.#groups.delete(id);
    return true;
  }

  /** Returns the partitions of the existing ones of these topics. */
  partitionsOf(topics: Iterable<string>): readonly TopicPartition[] {
    return [...topics].flatMap((name) => {
      const { id, partitions } = this.#topics.get(name) ?? { id: '', partitions: [] };
      return partitions.map((_, partition) => ({ topic: name, topicId: id, partition }));
    });
  }

  /** Calls `wake` when a record is produced. @returns stops the calls */
  onProduce(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => void this.#waiting.delete(wake);
  }

  isReachable(pod: Owner): boolean {
    return this.isAvailable && !this.cutOff.has(pod);
  }

  #log(name: string, partition: number): StoredRecord[] {
    const log = this.topic(name).partitions[partition];
    if (log === undefined) throw new Error(`expected a partition of ${name}, got ${partition}`);
    return log;
  }
}
