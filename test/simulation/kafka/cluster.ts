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

/** What a client has gone past that could not tell that the log had lost its end. */
interface PassedOver {
  readonly topicId: string;
  readonly partition: number;
  readonly records: readonly StoredRecord[];
}

export interface SimulatedTopic {
  readonly name: string;
  /** Another one each time the topic is made. */
  readonly id: string;
  readonly partitions: StoredRecord[][];
  /** That of the present leader, of all its partitions: records keep that in which they were appended. */
  leaderEpoch: number;
}

/** The brokers, as one: topics and consumer groups. */
export class SimulatedKafka {
  readonly time: VirtualTime;
  /** Pods that reach no broker at present. */
  readonly cutOff = new Set<Owner>();
  readonly passedOver: PassedOver[] = [];
  isAvailable = true;

  readonly #topics = new Map<string, SimulatedTopic>();
  readonly #groups = new Map<string, SimulatedGroup>();
  /** Fetches that wait for something to come. */
  readonly #waiting = new Set<() => void>();
  #made = 0;

  constructor(time: VirtualTime) {
    this.time = time;
  }

  /** Makes a topic, or makes it anew: with another id, and empty. */
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

  /** The partitions of the topic get other leaders, which have all of their logs. */
  elect(name: string): void {
    this.topic(name).leaderEpoch += 1;
  }

  /**
   * The partitions get other leaders, one of which lacks the last records: those that come next have their offsets.
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

  has(name: string): boolean {
    return this.#topics.has(name);
  }

  /** @returns the offset */
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

  /** Returns the partitions of these topics, as far as they exist. */
  partitionsOf(topics: Iterable<string>): readonly TopicPartition[] {
    return [...topics].flatMap((name) => {
      const { id, partitions } = this.#topics.get(name) ?? { id: '', partitions: [] };
      return partitions.map((_, partition) => ({ topic: name, topicId: id, partition }));
    });
  }

  /** Calls `wake` once something is produced. @returns stops that */
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
