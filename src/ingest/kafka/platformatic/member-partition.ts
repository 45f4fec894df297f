import type { PartitionPosition } from '../driver.ts';
import type { LogBefore } from '../position-text.ts';
import type { FetchedPartition } from './fetch-response.ts';

/** One partition of a member, from a join to the next. */
export class MemberPartition {
  readonly topic: string;
  readonly topicId: string;
  readonly partition: number;
  /** How many partitions the topic had at the join. */
  readonly partitions: number;
  /** @returns the text that goes with a commit */
  readonly metadata: (log: LogBefore) => string;
  #fetchOffset: number;
  #fetchedEpoch: number | undefined;
  #position: number;
  #leaderEpoch: number | undefined;
  #highWatermark: number | undefined;
  #waiting: FetchedPartition | undefined;
  #pauses = 0;
  #resets: number;

  constructor({
    topic,
    topicId,
    partition,
    partitions,
    metadata,
    position,
    log: { resets, leaderEpoch },
  }: Pick<MemberPartition, 'topic' | 'topicId' | 'partition' | 'partitions' | 'metadata'> & {
    readonly position: number;
    readonly log: LogBefore;
  }) {
    this.topic = topic;
    this.topicId = topicId;
    this.partition = partition;
    this.partitions = partitions;
    this.metadata = metadata;
    this.#resets = resets;
    this.#position = position;
    this.#leaderEpoch = leaderEpoch;
    this.#fetchOffset = position;
    this.#fetchedEpoch = leaderEpoch;
  }

  /** The offset that the next fetch asks for: after what was fetched last. */
  get fetchOffset(): number {
    return this.#fetchOffset;
  }

  /** Leader epoch of the record before `fetchOffset`. Undefined: not known. */
  get fetchedEpoch(): number | undefined {
    return this.#fetchedEpoch;
  }

  /** The offset of the next record to be consumed. */
  get position(): number {
    return this.#position;
  }

  /** How often the position was reset: see PositionText. */
  get resets(): number {
    return this.#resets;
  }

  get highWatermark(): number | undefined {
    return this.#highWatermark;
  }

  /** Whether something that was fetched waits to be taken. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  get waiting(): FetchedPartition | undefined {
    return this.#waiting;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  get at(): PartitionPosition {
    const { topic, topicId, resets, partition, partitions, position, highWatermark } = this;
    const leaderEpoch = this.#leaderEpoch;
    return { topic, topicId, resets, partition, partitions, position, leaderEpoch, highWatermark };
  }

  /** @param fetched what may be consumed, or an error that is to be handed over */
  fetched(fetched: FetchedPartition): void {
    if (fetched.errorCode === 0) this.#highWatermark = fetched.lastStableOffset;
    if (fetched.records.length > 0 || fetched.errorCode !== 0) this.#waiting = fetched;
  }

  /** The waiting records have been taken: the partition's broker may be asked for more. */
  taken(): void {
    this.#waiting = undefined;
  }

  /** Notes that the partition is fetched up to `next`. @param leaderEpoch of the record before */
  fetchedUpTo(next: number, leaderEpoch: number | undefined): void {
    this.#fetchOffset = next;
    this.#fetchedEpoch = leaderEpoch;
  }

  /** Notes that the partition is consumed up to `position`. @param leaderEpoch of the record before */
  moveTo(position: number, leaderEpoch: number | undefined, resets = this.#resets): void {
    this.#resets = resets;
    this.#position = position;
    this.#leaderEpoch = leaderEpoch;
  }

  /** Goes on at the position, and drops records that were fetched beyond it. */
  rewind(): void {
    this.#waiting = undefined;
    this.fetchedUpTo(this.#position, this.#leaderEpoch);
  }

  /** @returns a function that ends the pause */
  pause(): () => void {
    this.#pauses += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#pauses -= 1;
    };
  }
}
