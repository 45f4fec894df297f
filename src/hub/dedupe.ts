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
  /** Copies left out. */
  events = 0;

  see(position: Position): DedupeResult {
    const result = this.#see(position);
    if (result !== 'seen') this.events += 1;
    return result;
  }

  #see({ id, p, o }: Position): DedupeResult {
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
  /** By partition and offset: the topic's id, if that is known. */
  #current = new Map<string, string | undefined>();
  #previous: ReadonlyMap<string, string | undefined> = new Map();

  /** @returns false if this position has been seen lately */
  add({ id, p, o }: Position): boolean {
    const position = `${p}:${o}`;
    if (hasSeen(this.#current, position, id) || hasSeen(this.#previous, position, id)) return false;
    this.#current.set(position, id);
    if (this.#current.size === GENERATION) {
      this.#previous = this.#current;
      this.#current = new Map();
    }
    return true;
  }
}

/** While pods are replaced, only some of them know the topic's id. */
function hasSeen(
  positions: ReadonlyMap<string, string | undefined>,
  position: string,
  id: string | undefined,
): boolean {
  if (!positions.has(position)) return false;
  const known = positions.get(position);
  return known === undefined || id === undefined || known === id;
}
