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

interface SimulatedTopic {
  readonly name: string;
  /** Another one each time the topic is made. */
  readonly id: string;
  readonly partitions: StoredRecord[][];
  /** Of all its partitions. */
  leaderEpoch: number;
}

/** The brokers, as one: topics and consumer groups. */
export class SimulatedKafka {
  readonly time: VirtualTime;
  /** Pods that reach no broker at present. */
  readonly cutOff = new Set<Owner>();
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
    const { partitions, leaderEpoch } = this.topic(name);
    const log = partitions[partition];
    if (log === undefined) throw new Error(`expected a partition of ${name}, got ${partition}`);
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

  /** Of these topics, as far as they exist. */
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
}
