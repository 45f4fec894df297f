import type { ConsumedPartition, ConsumedTopic, LogRange } from '../../events/consumption.ts';
import type { HeardTopic } from './heard-positions.ts';

interface Answered {
  count: number;
  readonly partitions: Map<number, ConsumedPartition>;
  /** Partitions that more than one pod claims, or that a pod was assigned again meanwhile. */
  readonly disputed: Set<number>;
}

/**
 * The answers of pods to one that asks how far they have published. It waits for all pods that listen: a pod that was
 * frozen may still claim partitions that another pod has taken over.
 */
export class Answers {
  readonly #topics: ReadonlyMap<string, Answered>;
  readonly #pods = new Set<string>();
  readonly #named = new Set<string>();
  /** How many pods have been asked. */
  #expected = Infinity;
  readonly #complete = new AbortController();

  /** @param wanted topics, each with the least number of its partitions */
  constructor(wanted: Iterable<readonly [topic: string, count: number]>) {
    this.#topics = new Map(
      [...wanted].map(([topic, count]) => [
        topic,
        { count, partitions: new Map<number, ConsumedPartition>(), disputed: new Set<number>() },
      ]),
    );
  }

  /** Aborts once no more answers are needed. */
  get complete(): AbortSignal {
    return this.#complete.signal;
  }

  /** All topics that pods publish, also others than those that are wanted. */
  get topics(): readonly string[] {
    return [...this.#named];
  }

  expect(pods: number): void {
    this.#expected = Math.max(1, pods);
    this.#look();
  }

  add(pod: string, topics: readonly ConsumedTopic[]): void {
    this.#pods.add(pod);
    for (const { topic, count, partitions } of topics) {
      this.#named.add(topic);
      const answered = this.#topics.get(topic);
      if (answered === undefined) continue;
      answered.count = Math.max(answered.count, count);
      for (const each of partitions) {
        const known = answered.partitions.get(each.partition);
        if (known !== undefined && !isSameHold(known, each)) answered.disputed.add(each.partition);
        if (known === undefined || each.until > known.until) answered.partitions.set(each.partition, each);
      }
    }
    this.#look();
  }

  /**
   * The ranges of the topic's records that were published since.
   *
   * @throws if the answers do not tell
   */
  missing(topic: string, since: HeardTopic): readonly LogRange[] {
    const answered = this.#topics.get(topic);
    if (this.#expected === Infinity) throw new Error('no pod could be asked how far it has published');
    if (answered === undefined || this.#pods.size < this.#expected) {
      throw new Error(`of ${this.#expected} pods ${this.#pods.size} say how far they have published`);
    }
    const { count, partitions, disputed } = answered;
    return Array.from({ length: count }, (_, partition): readonly LogRange[] => {
      const now = partitions.get(partition);
      if (now === undefined) throw new Error(`no pod says how far partition ${partition} is published`);
      const { log, until, lastEpoch, lastFrom } = now;
      const before = since.partitions.get(partition);
      if (before?.log !== log) throw new Error(`the log of partition ${partition} is another than before`);
      // This pod may have heard only some of the records that the former publisher was processing.
      if (disputed.has(partition) || !isSameHold(before, now))
        throw new Error(`partition ${partition} has moved meanwhile`);
      const { next: from, leaderEpoch } = before;
      return until > from ? [{ partition, log, leaderEpoch, lastEpoch, lastFrom, from, until }] : [];
    }).flat();
  }

  #look(): void {
    if (this.#pods.size >= this.#expected && [...this.#topics.values()].every(isWhole))
      this.#complete.abort();
  }
}

function isSameHold(one: ConsumedPartition, other: ConsumedPartition): boolean {
  return one.log === other.log && one.assignedAt === other.assignedAt;
}

function isWhole({ count, partitions }: Answered): boolean {
  return partitions.size >= count;
}
