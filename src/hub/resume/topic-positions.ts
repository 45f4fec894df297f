import { setTimeout as passes } from 'node:timers/promises';
import type { Bus } from '../../bus/bus.ts';
import { branchOf, type HistoryPosition } from '../../bus/history.ts';

export interface TopicPositionServices {
  /** The position up to which this pod has heard. */
  readonly position: Bus['position'];
  readonly readHistory: Bus['readHistory'];
}

/** The branches of a topic's epoch that its history has left, and the last sequence that is kept of each. */
interface LeftBranches {
  readonly epoch: string;
  /** The branch of what this pod had heard when they were read. */
  readonly present: number;
  readonly ends: Map<number, Promise<number>>;
}

/** The bus is asked no more often than this for one topic, as clients may send any cursor: ms. */
const PAUSE_MS = 50;

/** How many ends of branches are remembered of a topic: clients may send cursors of branches that never were. */
const MAX_ENDS = 128;

/**
 * The positions of topics. A pod hears only the channels that its subscribers ask for, so a cursor of another pod may be
 * ahead of this pod. Then the pod asks the bus, once for all subscribers that come before it asks.
 */
export class TopicPositions {
  readonly #services: TopicPositionServices;
  readonly #asking = new Map<string, Promise<void>>();
  /** By topic: ms. */
  readonly #askedAt = new Map<string, number>();
  /** By topic. */
  readonly #branches = new Map<string, LeftBranches>();

  constructor(services: TopicPositionServices) {
    this.#services = services;
  }

  /**
   * Where the topic stands. This pod has heard all up to there.
   *
   * @param cursor if the result does not reach it, the bus has not issued it
   * @throws NoHistory
   */
  async from(topic: string, cursor?: HistoryPosition): Promise<HistoryPosition | undefined> {
    const { position } = this.#services;
    const heard = position(topic);
    if (heard !== undefined && (cursor === undefined || isReached(cursor, heard))) return heard;
    await this.#ask(topic);
    return position(topic);
  }

  /**
   * Whether the history has gone on without this position: a master that was replaced has given it, and the next one lacks it.
   *
   * @param heard where the topic stands in the epoch of the position
   * @throws NoHistory
   */
  async isLost(topic: string, position: HistoryPosition, heard: HistoryPosition): Promise<boolean> {
    return (
      branchOf(position) < branchOf(heard) &&
      position.sequence > (await this.#branchEnd(topic, position, heard))
    );
  }

  #branchEnd(topic: string, position: HistoryPosition, heard: HistoryPosition): Promise<number> {
    const { epoch } = heard;
    const present = branchOf(heard);
    let left = this.#branches.get(topic);
    if (left?.epoch !== epoch || left.present !== present)
      this.#branches.set(topic, (left = { epoch, present, ends: new Map() }));
    const { ends } = left;
    const branch = branchOf(position);
    const known = ends.get(branch);
    if (known !== undefined) return known;
    if (ends.size === MAX_ENDS) ends.clear();
    const asked = this.#readBranchEnd(topic, position.sequence);
    ends.set(branch, asked);
    asked.then(
      (end) => end === Infinity && ends.delete(branch),
      () => ends.delete(branch),
    );
    return asked;
  }

  async #readBranchEnd(topic: string, since: number): Promise<number> {
    const { branchEnd = Infinity } = await this.#services.readHistory(topic, [], since, { maxBytes: 0 });
    return branchEnd;
  }

  #ask(topic: string): Promise<void> {
    const asking = this.#asking.get(topic) ?? this.#read(topic);
    this.#asking.set(topic, asking);
    return asking;
  }

  async #read(topic: string): Promise<void> {
    const pause = (this.#askedAt.get(topic) ?? -Infinity) + PAUSE_MS - performance.now();
    await (pause > 0 ? passes(pause) : undefined);
    // A cursor that comes from now on may be ahead of what is read.
    this.#asking.delete(topic);
    this.#askedAt.set(topic, performance.now());
    await this.#services.readHistory(topic, [], 0, { maxBytes: 0 });
  }
}

/** Whether a cursor was issued at or before this position. */
export function isReached(cursor: HistoryPosition, { epoch, sequence }: HistoryPosition): boolean {
  return cursor.epoch === epoch && cursor.sequence <= sequence;
}
