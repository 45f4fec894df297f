import { partitionIn } from '../events/in-stream.ts';
import { isAfter, type LogPosition } from '../events/log-position.ts';

/** The record's place in Kafka, see Message. */
interface Position {
  readonly t?: string;
  readonly m?: 1;
  readonly id?: string;
  readonly p: number;
  readonly o: number;
  readonly e?: number;
  /** Its epoch and sequence in the topic's history, if it was published with one. */
  readonly h?: readonly [string, number];
}

export type DedupeResult = 'new' | 'seen' | 'restarted';

/** The last event of one topic partition that the channel has carried. */
interface Carried {
  /** Kafka's id of the topic. */
  topicId: string | undefined;
  last: LogPosition;
}

/** After a topic was recreated, events of the former topic may still come among those of the new one. */
interface CarriedTopics {
  readonly latest: Carried;
  readonly former: Carried | undefined;
}

type Partitions = Map<number | string, CarriedTopics>;

/**
 * The last events that one channel has carried, by partition. A channel gets the events of a partition in log order. A copy comes only
 * after its event: the publisher did not hear that the event arrived, or the partition moved to another pod before the
 * commit. (Publishing keeps this order even if Redis takes only a part.) So an event that is not after the last one of its
 * topic has been dispatched before. A recreated topic has another id in Kafka.
 */
export class ChannelOffsets {
  readonly #carried: Partitions = new Map();
  /** The positions up to which subscribers have read the history: the channel may never have carried those events. */
  #read: Partitions | undefined;
  /** The epoch of the positions in `#read`. */
  #readEpoch: string | undefined;
  /** The positions that were read in earlier epochs. */
  #readBefore: Partitions | undefined;
  /** Events dispatched since the channel was joined, without copies. */
  events = 0;

  /** Notes an event of the channel's history: if it is published again without a position in that epoch, it is a copy. */
  note(position: Position): void {
    const epoch = position.h?.[0];
    if (this.#read === undefined || epoch !== this.#readEpoch) {
      this.#readBefore = laterOf(this.#readBefore, this.#read);
      this.#read = new Map();
      this.#readEpoch = epoch;
    }
    advance(this.#read, position);
  }

  see(position: Position): DedupeResult {
    if (this.#wasRead(position)) return 'seen';
    const result = advance(this.#carried, position);
    if (result !== 'seen') this.events += 1;
    return result;
  }

  #wasRead(position: Position): boolean {
    const isOfEpoch = position.h?.[0] === this.#readEpoch;
    return has(this.#readBefore, position) || (!isOfEpoch && has(this.#read, position));
  }
}

/** Merges positions that were read: the later one of a partition counts, though a history may have gone back meanwhile. */
function laterOf(before: Partitions | undefined, read: Partitions | undefined): Partitions | undefined {
  if (before === undefined || read === undefined) return read;
  const later = new Map(before);
  for (const [partition, topics] of read) {
    const { latest } = topics;
    const known = before.get(partition)?.latest;
    if (known === undefined || known.topicId !== latest.topicId || isAfter(latest.last, known.last))
      later.set(partition, topics);
  }
  return later;
}

function has(partitions: Partitions | undefined, position: Position): boolean {
  const latest = partitions?.get(partitionIn(position))?.latest;
  if (latest === undefined || latest.topicId !== position.id) return false;
  return !isAfter(placeOf(position), latest.last);
}

function advance(partitions: Partitions, position: Position): DedupeResult {
  const { id } = position;
  const p = partitionIn(position);
  const place = placeOf(position);
  const carried = partitions.get(p);
  if (carried === undefined) {
    partitions.set(p, { latest: { topicId: id, last: place }, former: undefined });
    return 'new';
  }
  const { latest, former } = carried;
  if (id !== undefined && id !== latest.topicId) {
    if (former !== undefined && id === former.topicId) return advanceTopic(former, place);
    if (latest.topicId !== undefined) {
      partitions.set(p, { latest: { topicId: id, last: place }, former: latest });
      return 'restarted';
    }
    latest.topicId = id;
  }
  return advanceTopic(latest, place);
}

function advanceTopic(carried: Carried, place: LogPosition): DedupeResult {
  const { last } = carried;
  if (!isAfter(place, last)) return 'seen';
  carried.last = place;
  return place.offset > last.offset ? 'new' : 'restarted';
}

interface Seen {
  /** Kafka's id of the topic. Undefined: not known. */
  readonly id: string | undefined;
  readonly place: LogPosition;
}

/** Copies of an event on several channels are published one behind the other: a short memory finds them. */
const GENERATION = 512;

/**
 * The last events of a group on several channels. Exact within the last 512 to 1,024 events; a copy that comes later
 * than that is not recognised.
 */
export class RecentPositions {
  /** By partition and offset. */
  #current = new Map<string, Seen>();
  #previous: ReadonlyMap<string, Seen> = new Map();

  /** @returns false if this position has been seen lately */
  add(position: Position): boolean {
    const key = `${partitionIn(position)}:${position.o}`;
    const given = { id: position.id, place: placeOf(position) };
    if (isCopy(given, this.#current.get(key)) || isCopy(given, this.#previous.get(key))) return false;
    this.#current.set(key, given);
    if (this.#current.size === GENERATION) {
      this.#previous = this.#current;
      this.#current = new Map();
    }
    return true;
  }
}

/** While pods are replaced, only some of them know the topic's id. */
function isCopy({ id, place }: Seen, seen: Seen | undefined): boolean {
  if (seen === undefined) return false;
  const isSameTopic = seen.id === undefined || id === undefined || seen.id === id;
  return isSameTopic && !isAfter(place, seen.place);
}

function placeOf({ o, e }: Position): LogPosition {
  return { offset: o, epoch: e };
}
