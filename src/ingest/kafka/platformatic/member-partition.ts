import type { PartitionPosition } from '../driver.ts';
import type { FetchedPartition } from './fetch-response.ts';

/** One partition of a member, from a join to the next. */
export class MemberPartition {
  readonly topic: string;
  readonly topicId: string;
  readonly partition: number;
  /** To go with each commit. */
  readonly metadata: string;
  /** What the next fetch asks for: behind what was fetched last. */
  fetchOffset: number;
  #position: number;
  #highWatermark: number | undefined;
  #waiting: FetchedPartition | undefined;
  #pauses = 0;

  constructor({
    topic,
    topicId,
    partition,
    metadata,
    position,
  }: Pick<MemberPartition, 'topic' | 'topicId' | 'partition' | 'metadata'> & { readonly position: number }) {
    this.topic = topic;
    this.topicId = topicId;
    this.partition = partition;
    this.metadata = metadata;
    this.#position = position;
    this.fetchOffset = position;
  }

  /** Of the next record to be consumed. */
  get position(): number {
    return this.#position;
  }

  get highWatermark(): number | undefined {
    return this.#highWatermark;
  }

  /** Whether something was fetched that is yet to be taken. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  get at(): PartitionPosition {
    const { topic, partition, position, highWatermark } = this;
    return { topic, partition, position, highWatermark };
  }

  /** @param fetched what may be consumed, or an error that is to be handed over */
  fetched(fetched: FetchedPartition): void {
    if (fetched.errorCode === 0) this.#highWatermark = fetched.lastStableOffset;
    if (fetched.records.length > 0 || fetched.errorCode !== 0) this.#waiting = fetched;
  }

  take(): FetchedPartition | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  /** It is consumed up to there. */
  moveTo(position: number): void {
    this.#position = position;
  }

  /** It goes on at its position, whatever was fetched beyond. */
  rewind(): void {
    this.#waiting = undefined;
    this.fetchOffset = this.#position;
  }

  /** @returns what ends the pause */
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
