/** The record's place in Kafka: the topic's id, if that is known, partition and offset. */
interface Position {
  readonly id?: string;
  readonly p: number;
  readonly o: number;
}

export type DedupeResult = 'new' | 'seen' | 'restarted';

/** What one channel has carried of a partition. */
interface Carried {
  /** Kafka's id of the topic. */
  topicId: string | undefined;
  /** That of the topic which had the same name before. */
  formerId: string | undefined;
  highest: number;
}

/**
 * What one channel has carried, by partition. A channel gets the events of a partition in the order of their offsets, and
 * copies of them only after the event itself: their publisher has not heard that they arrived, or the partition has gone
 * on to another pod before they were committed. (Publishing keeps it so where Redis takes only a part.) So an offset that
 * does not go up has been dispatched before, unless the topic was made anew: then Kafka's id of the topic is another.
 */
export class ChannelOffsets {
  readonly #partitions = new Map<number, Carried>();

  see({ id, p, o }: Position): DedupeResult {
    const last = this.#partitions.get(p);
    if (last === undefined) {
      this.#partitions.set(p, { topicId: id, formerId: undefined, highest: o });
      return 'new';
    }
    if (id !== undefined && id !== last.topicId) {
      if (id === last.formerId) return 'seen';
      if (last.topicId !== undefined) {
        this.#partitions.set(p, { topicId: id, formerId: last.topicId, highest: o });
        return 'restarted';
      }
      last.topicId = id;
    }
    if (o <= last.highest) return 'seen';
    last.highest = o;
    return 'new';
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
  add({ id = '', p, o }: Position): boolean {
    const position = `${p}:${o}:${id}`;
    if (this.#current.has(position) || this.#previous.has(position)) return false;
    this.#current.add(position);
    if (this.#current.size === GENERATION) {
      this.#previous = this.#current;
      this.#current = new Set();
    }
    return true;
  }
}
