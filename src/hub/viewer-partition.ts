import type { Json, ReadSet } from '../lazy/reads.ts';
import type { Subscriber } from './subscriber.ts';

/** Subscribers in buckets: the viewers of one bucket agree on every value that a set of reads looks at. */
export class ViewerPartition {
  readonly reads: ReadSet;
  readonly #buckets = new Map<string, Set<Subscriber>>();

  /** @param reads must not grow any more */
  constructor(reads: ReadSet, subscribers: Iterable<Subscriber>) {
    this.reads = reads;
    for (const subscriber of subscribers) this.add(subscriber);
  }

  /** The subscribers whose viewers agree with this one, which need not be a subscriber's. */
  matching(viewer: Json): ReadonlySet<Subscriber> {
    return this.#buckets.get(this.reads.valuesIn(viewer)) ?? new Set();
  }

  get buckets(): Iterable<ReadonlySet<Subscriber>> {
    return this.#buckets.values();
  }

  add(subscriber: Subscriber): void {
    const values = this.reads.valuesIn(subscriber.viewer);
    const bucket = this.#buckets.get(values);
    if (bucket === undefined) this.#buckets.set(values, new Set([subscriber]));
    else bucket.add(subscriber);
  }

  remove(subscriber: Subscriber): void {
    const values = this.reads.valuesIn(subscriber.viewer);
    const bucket = this.#buckets.get(values);
    if (bucket?.delete(subscriber) === true && bucket.size === 0) this.#buckets.delete(values);
  }
}

/** A graph reads its viewers in a handful of ways. Past that the oldest partition is made anew when it is needed. */
const MAX_PARTITIONS = 8;

/**
 * The partitions of one group's subscribers, by read set, kept up to date as subscribers join and leave. The least
 * recently used leaves first. A Map rather than an lru-cache: that takes 2 KB, and there is one for each group.
 */
export class ViewerPartitions {
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #byReads = new Map<string, ViewerPartition>();

  /** @param subscribers all of the group, now and later */
  constructor(subscribers: ReadonlySet<Subscriber>) {
    this.#subscribers = subscribers;
  }

  of(reads: ReadSet): ViewerPartition {
    const { identity } = reads;
    const known = this.#byReads.get(identity);
    if (known !== undefined) {
      this.#byReads.delete(identity);
      this.#byReads.set(identity, known);
      return known;
    }
    const partition = new ViewerPartition(reads.snapshot(), this.#subscribers);
    const [oldest] = this.#byReads.keys();
    if (this.#byReads.size === MAX_PARTITIONS && oldest !== undefined) this.#byReads.delete(oldest);
    this.#byReads.set(identity, partition);
    return partition;
  }

  add(subscriber: Subscriber): void {
    for (const partition of this.#byReads.values()) partition.add(subscriber);
  }

  remove(subscriber: Subscriber): void {
    for (const partition of this.#byReads.values()) partition.remove(subscriber);
  }
}
