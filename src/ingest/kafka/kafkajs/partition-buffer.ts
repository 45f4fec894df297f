import { withTimeout } from '../../../support/with-timeout.ts';
import type { PartitionReader } from '../../dead-letters/kafka.ts';
import type { KafkaRecord } from '../../record.ts';

export interface PartitionRange {
  readonly topic: string;
  readonly partition: number;
  /** The first offset to read. */
  readonly start: number;
  /** The offset after the last one to read, which may be that of a transaction's marker, which is no record. */
  readonly end: number;
}

/** How long Kafka may answer nothing new: longer than a join takes, and than all retries of kafkajs itself. */
const STALLED_MS = 60_000;

/** The records that a consumer has fetched of one partition: at most one fetch waits to be taken. */
export class PartitionBuffer implements PartitionReader {
  readonly #range: PartitionRange;
  #records: readonly KafkaRecord[] = [];
  #position: number;
  #error: Error | undefined;
  /** Wakes the caller that waits for records, for the end, or for an error. */
  #wake: (() => void) | undefined;
  #resume: (() => void) | undefined;

  constructor(range: PartitionRange) {
    this.#range = range;
    this.#position = range.start;
  }

  get partition(): number {
    return this.#range.partition;
  }

  /** The next offset to fetch. */
  get position(): number {
    return this.#position;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#range.end;
  }

  /**
   * Takes what was fetched.
   *
   * @param records may begin before the position, and go beyond the end
   * @param position after all that was fetched, transactions' markers included
   */
  add(records: readonly KafkaRecord[], position: number): void {
    if (position <= this.#position) return;
    const { end } = this.#range;
    const wanted = records.filter(({ offset }) => offset >= this.#position && offset < end);
    this.#records = [...this.#records, ...wanted];
    this.#position = position;
    this.#wake?.();
  }

  /** @param pause stops fetching from this partition until the function that it returns is called */
  pauseIfFull(pause: () => () => void): void {
    if (this.#records.length > 0 || this.isAtEnd) this.#resume ??= pause();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#wake?.();
  }

  async next(): Promise<readonly KafkaRecord[] | undefined> {
    while (this.#records.length === 0) {
      if (this.isAtEnd) return undefined;
      if (this.#error !== undefined) throw this.#error;
      await this.#untilChanged();
    }
    const records = this.#records;
    this.#records = [];
    if (!this.isAtEnd) {
      this.#resume?.();
      this.#resume = undefined;
    }
    return records;
  }

  async #untilChanged(): Promise<void> {
    const { topic, partition, end } = this.#range;
    const changed = new Promise<void>((resolve) => (this.#wake = resolve));
    await withTimeout(changed, STALLED_MS, () => {
      throw new Error(
        `expected the records of ${topic}/${partition} from ${this.#position} to ${end}, got nothing for a minute`,
      );
    });
  }
}
