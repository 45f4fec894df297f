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
  /** Pods of the previous version do not write it. */
  lastFrom?: number | null,
];
type WrittenTopic = readonly [topic: string, count: number, partitions: readonly WrittenPartition[]];

/** Returns the text that publishers send positions in: `[["orders",4,[[0,17,17,"<id>/0",3,3,1764000000000,0,5]]]]`. */
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

/** @returns nothing if a later version has written it in another format */
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
  /** From when on the position counts: ms. Infinity: not until its publisher reports it again. */
  readonly countsFrom: number;
}

/**
 * If a partition moved before this pod heard all from its former publisher, that one may have used another server. The loss
 * is reported within this time: each pod finds out that the servers differ, or that what it published there is lost.
 */
const MOVED_MS = 60_000;

/**
 * How far this pod has heard what others publish. A publisher reports its positions now and then, over the connection that
 * it publishes over: a pod that hears the report has heard all that was published before it.
 */
export class HeardPositions {
  readonly #topics = new Map<string, { count: number; partitions: Map<number, HeardPartition> }>();

  /** @param other to copy the state from */
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

  /** This pod may have listened to the wrong server: until repeated, a position shows only who continues from where. */
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

  /** Undefined unless the position of each partition is known and counts. @param now ms */
  whole(topic: string, now: number): HeardTopic | undefined {
    const heard = this.#topics.get(topic);
    if (heard === undefined || heard.partitions.size < heard.count) return undefined;
    const counts = [...heard.partitions.values()].every(({ countsFrom }) => countsFrom <= now);
    return counts ? { count: heard.count, partitions: new Map(heard.partitions) } : undefined;
  }
}

/** Whether a pod that has heard `said` has heard all that was published between the two. */
function follows(known: ConsumedPartition, said: ConsumedPartition): boolean {
  return said.assignedAt === known.assignedAt || (said.log === known.log && said.start <= known.next);
}
