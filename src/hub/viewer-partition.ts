import type { Json, ReadSet } from '../lazy/reads.ts';
import type { Subscriber } from './subscriber.ts';

/** Subscribers in buckets: the viewers of one bucket agree on every value that a set of reads looks at. */
export class ViewerPartition {
  readonly reads: ReadSet;
  readonly #buckets = new Map<string, Set<Subscriber>>();

  /**
   * @param reads must not grow any more
   * @param viewerOf the viewer that decides which bucket a subscriber is in
   */
  constructor(
    reads: ReadSet,
    subscribers: Iterable<Subscriber>,
    viewerOf: (subscriber: Subscriber) => Json = currentViewer,
  ) {
    this.reads = reads;
    for (const subscriber of subscribers) this.#put(subscriber, viewerOf(subscriber));
  }

  /** The subscribers whose viewers agree with this viewer, which may be no subscriber's. */
  matching(viewer: Json): ReadonlySet<Subscriber> {
    return this.#buckets.get(this.reads.valuesIn(viewer)) ?? new Set();
  }

  /** The number of buckets. */
  get size(): number {
    return this.#buckets.size;
  }

  get buckets(): Iterable<ReadonlySet<Subscriber>> {
    return this.#buckets.values();
  }

  add(subscriber: Subscriber): void {
    this.#put(subscriber, subscriber.viewer);
  }

  /**
   * A subscriber's viewer has been replaced. The buckets that it leaves and enters are copied: executions under way hold
   * the old buckets, in which the subscriber stays.
   *
   * @param previous its viewer until now
   */
  move(subscriber: Subscriber, previous: Json): void {
    const from = this.reads.valuesIn(previous);
    const to = this.reads.valuesIn(subscriber.viewer);
    if (from === to) return;
    const left = new Set(this.#buckets.get(from));
    left.delete(subscriber);
    if (left.size === 0) this.#buckets.delete(from);
    else this.#buckets.set(from, left);
    this.#buckets.set(to, new Set(this.#buckets.get(to)).add(subscriber));
  }

  #put(subscriber: Subscriber, viewer: Json): void {
    const values = this.reads.valuesIn(viewer);
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

function currentViewer({ viewer }: Subscriber): Json {
  return viewer;
}

/** A graph reads its viewers in a handful of ways. Beyond that the oldest partition is dropped, and made again on demand. */
const MAX_PARTITIONS = 8;

/**
 * The partitions of one group's subscribers, by read set, kept up to date as subscribers join and leave. The least recently
 * used leaves first. A Map, as an lru-cache would take 2 KB for each group.
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

  /** @param previous the subscriber's viewer until now */
  move(subscriber: Subscriber, previous: Json): void {
    for (const partition of this.#byReads.values()) partition.move(subscriber, previous);
  }
}
