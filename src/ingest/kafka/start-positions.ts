import type { Matched, PositionReset } from './driver.ts';
import { readPositionText, writePositionText, type LogBefore } from './position-text.ts';

/** What a group has committed for a partition. */
export interface CommittedPosition {
  readonly partition: number;
  /** Undefined: nothing. */
  readonly offset: number | undefined;
  /** The text that went with the commit. */
  readonly metadata: string | null;
}

export interface TopicAtJoin {
  readonly topic: string;
  /** Undefined: brokers before 2.8 have none. */
  readonly topicId: string | undefined;
  /** The positions of all partitions that exist. */
  readonly positions: readonly CommittedPosition[];
  /** How patterns of the graph match the topic. Absent: it is consumed by its name. */
  readonly matched?: Matched | undefined;
  /** The id of the bus that this pod publishes to. Undefined: none is known. */
  readonly bus?: string | undefined;
}

/** `position`: at the committed position. */
type Start = 'position' | 'beginning' | 'end';

export interface Decision {
  start(partition: number): Start;
  /** The log before the position where the partition starts. */
  log(partition: number): LogBefore;
  /** The text that goes with each commit of a partition. */
  metadata(log: LogBefore): string;
  /** Whether the position must be committed again unchanged, since its text does not name this pod's bus. */
  isUnnamed(partition: number): boolean;
}

const NOTHING_KNOWN: LogBefore = { resets: 0, leaderEpoch: undefined };

/** @returns how often a position was reset, this reset included */
export function resetsAfter(resets: number, to: PositionReset['to']): number {
  // Offsets that retention has deleted are not given again.
  return to === 'beginning' ? resets : resets + 1;
}

/**
 * Decides where partitions start, purely from what their group has committed for all partitions of the topic, so that two
 * pods that join together decide alike:
 *
 * - the group has no position on the topic: the end; the beginning if the topic is new
 * - a position of a topic that had the same name: the beginning, as the topic was made anew
 * - no position, and the partition is settled: the end, as the group had not come to commit its first position
 * - no position, and it is not settled: the beginning, as the partition is new
 *
 * A partition is settled if it existed when the group was new, or if the group has a position on it and on all before it.
 */
export class StartPositions {
  /** The topic ids that this process has known. A broker deletes positions with their topic, so they can't tell then. */
  readonly #known = new Map<string, { readonly id: string; readonly isAnew: boolean }>();

  /** @returns the topic's id, as of the last decision */
  topicId(topic: string): string | undefined {
    return this.#known.get(topic)?.id;
  }

  decide({ topic, topicId, positions, matched, bus }: TopicAtJoin): Decision {
    const isRecreated = this.#isAnew(topic, topicId);
    const { patterns } = matched ?? {};
    const isNamed = bus !== undefined || patterns !== undefined;
    const valid = new Set<number>();
    const stale = new Set<number>();
    const named = new Set<number>();
    const logs = new Map<number, LogBefore>();
    let settled = 0;
    for (const { partition, offset, metadata } of positions) {
      if (offset === undefined) continue;
      const text = readPositionText(metadata);
      if (text?.topicId !== undefined && topicId !== undefined && text.topicId !== topicId) {
        stale.add(partition);
        continue;
      }
      valid.add(partition);
      if (text?.bus === bus && text?.patterns === patterns) named.add(partition);
      if (text !== undefined) logs.set(partition, text);
      settled = Math.max(settled, text?.settled ?? 0);
    }
    // The group commits positions on all topics of a pattern when it begins with the pattern.
    const isNew = matched?.isBegun === true && valid.size === 0 && stale.size === 0;
    const isAnew = isRecreated || isNew;
    const isNewGroup = valid.size === 0 && stale.size === 0 && !isAnew;
    if (isNewGroup) settled = positions.length;
    while (valid.has(settled)) settled += 1;
    return {
      log: (partition) => logs.get(partition) ?? NOTHING_KNOWN,
      metadata: ({ resets, leaderEpoch }) =>
        writePositionText({ topicId, settled, bus, resets, leaderEpoch, patterns }),
      isUnnamed: (partition) => isNamed && valid.has(partition) && !named.has(partition),
      start: (partition) => {
        if (valid.has(partition)) return 'position';
        return isAnew || stale.has(partition) || partition >= settled ? 'beginning' : 'end';
      },
    };
  }

  /** Whether this process has known the topic under another id. */
  #isAnew(topic: string, id: string | undefined): boolean {
    const known = this.#known.get(topic);
    if (id === undefined) return known?.isAnew ?? false;
    const isAnew = known !== undefined && (known.isAnew || known.id !== id);
    this.#known.set(topic, { id, isAnew });
    return isAnew;
  }
}
