/** The record's place in Kafka: partition, offset, timestamp (ms). */
interface Position {
  readonly p: number;
  readonly o: number;
  readonly ts: number;
}

export type DedupeResult = 'new' | 'seen' | 'restarted';

/**
 * What one channel has carried, per partition: the highest offset and the latest Kafka timestamp.
 * A publisher sends a partition's events in order and repeats from the first one that was not acknowledged, so an offset
 * that does not go up has been dispatched before, unless the topic was made anew: then offsets begin at 0 while
 * timestamps go on.
 */
export class ChannelOffsets {
  readonly #partitions = new Map<number, { offset: number; timestamp: number }>();

  see({ p, o, ts }: Position): DedupeResult {
    const last = this.#partitions.get(p);
    if (last === undefined) {
      this.#partitions.set(p, { offset: o, timestamp: ts });
      return 'new';
    }
    const restarted = o <= last.offset;
    if (restarted && ts <= last.timestamp) return 'seen';
    last.offset = o;
    last.timestamp = Math.max(last.timestamp, ts);
    return restarted ? 'restarted' : 'new';
  }
}

/** Copies of an event on several channels are published one behind the other: a short memory finds them. */
const GENERATION = 512;

/**
 * The last events of a group on several channels. Exact within the last 512 to 1,024 events; a copy that comes later
 * than that is not recognised.
 */
export class RecentPositions {
  #current = new Set<string>();
  #previous = new Set<string>();

  /** @returns false if this position has been seen lately */
  add({ p, o, ts }: Position): boolean {
    const position = `${p}:${o}:${ts}`;
    if (this.#current.has(position) || this.#previous.has(position)) return false;
    this.#current.add(position);
    if (this.#current.size === GENERATION) {
      this.#previous = this.#current;
      this.#current = new Set();
    }
    return true;
  }
}
