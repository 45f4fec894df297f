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
];
type WrittenTopic = readonly [topic: string, count: number, partitions: readonly WrittenPartition[]];

/** As publishers say it over the bus: `[["orders",4,[[0,17,17,"<id>/0",3]]]]`. */
export function writePositions(topics: readonly ConsumedTopic[]): string {
  const written = topics.map(({ topic, count, partitions }): WrittenTopic => {
    const each = partitions.map(({ partition, next, until, log, leaderEpoch = null }): WrittenPartition => [
      partition,
      next,
      until,
      log,
      leaderEpoch,
    ]);
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
      partitions: partitions.map(([partition, next, until, log, leaderEpoch]) => ({
        partition,
        next,
        until,
        log,
        leaderEpoch: leaderEpoch ?? undefined,
      })),
    }));
  } catch {
    return [];
  }
}

/**
 * How far this pod has heard what others publish. A publisher says now and then where it stands, over the connection that it
 * publishes over: who hears that has heard all that it had published before.
 */
export class HeardPositions {
  readonly #topics = new Map<string, { count: number; partitions: Map<number, ConsumedPartition> }>();

  /** @param other whose state is taken over */
  constructor(other?: HeardPositions) {
    for (const [topic, { count, partitions }] of other === undefined ? [] : other.#topics) {
      this.#topics.set(topic, { count, partitions: new Map(partitions) });
    }
  }

  note(topics: readonly ConsumedTopic[]): void {
    for (const { topic, count, partitions } of topics) {
      const known = this.#topics.get(topic) ?? { count, partitions: new Map<number, ConsumedPartition>() };
      known.count = count;
      for (const partition of partitions) known.partitions.set(partition.partition, partition);
      this.#topics.set(topic, known);
    }
  }

  /** Undefined unless it is known of each partition. */
  whole(topic: string): HeardTopic | undefined {
    const known = this.#topics.get(topic);
    return known !== undefined && known.partitions.size >= known.count ? known : undefined;
  }
}
