import type { ConsumedPartition, ConsumedTopic } from '../../events/consumption.ts';

/** How far messages of a topic have been heard, by partition. */
export interface HeardTopic {
  readonly count: number;
  readonly partitions: ReadonlyMap<number, ConsumedPartition>;
}

type WrittenPartition = readonly [
  partition: number,
  next: number,
  until: number,
  log: string,
  leaderEpoch: number | null,
  lastEpoch: number | null,
  assignedAt: number,
  start: number,
  /** A pod of the version before writes none. */
  lastFrom?: number | null,
];
type WrittenTopic = readonly [topic: string, count: number, partitions: readonly WrittenPartition[]];

/** Returns the text by which publishers tell positions over the bus: `[["orders",4,[[0,17,17,"<id>/0",3,3,1764000000000,0,5]]]]`. */
export function writePositions(topics: readonly ConsumedTopic[]): string {
  const written = topics.map(({ topic, count, partitions }): WrittenTopic => {
    const each = partitions.map((one): WrittenPartition => {
      const { partition, next, until, log, leaderEpoch = null, lastEpoch = null } = one;
      const { assignedAt, start, lastFrom = null } = one;
      return [partition, next, until, log, leaderEpoch, lastEpoch, assignedAt, start, lastFrom];
    });
    return [topic, count, each];
  });
  return JSON.stringify(written);
}

/** @returns nothing of what a later version may write otherwise */
export function readPositions(text: string): readonly ConsumedTopic[] {
  try {
    return (JSON.parse(text) as readonly WrittenTopic[]).map(([topic, count, partitions]) => ({
      topic,
      count,
      partitions: partitions.map(
        ([partition, next, until, log, leaderEpoch, lastEpoch, assignedAt, start, lastFrom]) => ({
          partition,
          next,
          until,
          log,
          leaderEpoch: leaderEpoch ?? undefined,
          lastEpoch: lastEpoch ?? undefined,
          assignedAt,
          start,
          lastFrom: lastFrom ?? undefined,
        }),
      ),
    }));
  } catch {
    return [];
  }
}

interface HeardPartition extends ConsumedPartition {
  /** From when on it counts: ms. Infinity: once its publisher says again where it stands. */
  readonly countsFrom: number;
}

/**
 * Where a partition has moved before all was heard of its former publisher, that one may have published to another server. What it
 * costs is told within this time: each pod finds out that the servers differ, or what it had published there is lost.
 */
const MOVED_MS = 60_000;

/**
 * How far this pod has heard what others publish. A publisher says now and then where it stands, over the connection that it
 * publishes over: who hears that has heard all that it had published before.
 */
export class HeardPositions {
  readonly #topics = new Map<string, { count: number; partitions: Map<number, HeardPartition> }>();

  /** @param other whose state is taken over */
  constructor(other?: HeardPositions) {
    for (const [topic, { count, partitions }] of other === undefined ? [] : other.#topics) {
      this.#topics.set(topic, { count, partitions: new Map(partitions) });
    }
  }

  /** @param now ms */
  note(topics: readonly ConsumedTopic[], now: number): void {
    for (const { topic, count, partitions } of topics) {
      const heard = this.#topics.get(topic) ?? { count, partitions: new Map<number, HeardPartition>() };
      heard.count = count;
      for (const said of partitions) {
        const known = heard.partitions.get(said.partition);
        const isMissing = known !== undefined && !follows(known, said);
        const countsSince = known?.countsFrom ?? Infinity;
        const countsFrom = isMissing ? now + MOVED_MS : countsSince === Infinity ? now : countsSince;
        heard.partitions.set(said.partition, { ...said, countsFrom });
      }
      this.#topics.set(topic, heard);
    }
  }

  /** This pod may have listened to another server than publishers use. Until a publisher repeats it, a position shows only who goes on from where. */
  doubt(): this {
    for (const { partitions } of this.#topics.values())
      for (const [partition, heard] of partitions)
        partitions.set(partition, { ...heard, countsFrom: Infinity });
    return this;
  }

  /** Keeps only topics for which this is true. */
  keep(isKept: (topic: string) => boolean): void {
    for (const topic of this.#topics.keys()) if (!isKept(topic)) this.#topics.delete(topic);
  }

  /** Undefined unless it is known of each partition. @param now ms */
  whole(topic: string, now: number): HeardTopic | undefined {
    const heard = this.#topics.get(topic);
    if (heard === undefined || heard.partitions.size < heard.count) return undefined;
    const counts = [...heard.partitions.values()].every(({ countsFrom }) => countsFrom <= now);
    return counts ? { count: heard.count, partitions: new Map(heard.partitions) } : undefined;
  }
}

/** Whether all that was published between the two has been heard with what was said later. */
function follows(known: ConsumedPartition, said: ConsumedPartition): boolean {
  return said.assignedAt === known.assignedAt || (said.log === known.log && said.start <= known.next);
}
