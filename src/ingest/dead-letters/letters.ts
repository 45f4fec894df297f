import type { KafkaRecord } from '../record.ts';
import type { PartitionReader } from './kafka.ts';
import { letterOf, type Letter } from './letter.ts';

/**
 * Reads the letters of all partitions as one sequence, by the time at which they were written. Those of one partition of
 * the dead-letter topic stay in order even if their times do not. Holds no more than what the readers have fetched.
 */
export class Letters {
  readonly #partitions: readonly Head[];
  readonly #positions: Map<number, number>;
  #read = 0;
  #foreign = 0;

  /** @param from the offsets where partitions begin, if that was asked for */
  constructor(partitions: readonly PartitionReader[], from: ReadonlyMap<number, number> = new Map()) {
    this.#partitions = partitions.map((reader) => new Head(reader));
    this.#positions = new Map(from);
  }

  /** Letters that have been read, whether they were meant or not. */
  get read(): number {
    return this.#read;
  }

  /** Records that are no dead letters. */
  get foreign(): number {
    return this.#foreign;
  }

  /** By partition: the offset after the last record read, else that of `from`. Partitions with neither are absent. */
  positions(): ReadonlyMap<number, number> {
    return new Map(this.#positions);
  }

  /** @throws the errors of PartitionReader.next */
  async *matching(isMeant: (letter: Letter) => boolean): AsyncGenerator<Letter> {
    let heads = await present(this.#partitions);
    while (heads.length > 0) {
      const head = earliest(heads);
      const record = head.take();
      this.#positions.set(record.partition, record.offset + 1);
      const letter = letterOf(record);
      if (letter === undefined) {
        this.#foreign += 1;
      } else {
        this.#read += 1;
        if (isMeant(letter)) yield letter;
      }
      if (head.first === undefined) heads = await present(heads);
    }
  }
}

/** The records of one partition that have been fetched. */
class Head {
  readonly #reader: PartitionReader;
  #records: readonly KafkaRecord[] = [];
  #at = 0;

  constructor(reader: PartitionReader) {
    this.#reader = reader;
  }

  get first(): KafkaRecord | undefined {
    return this.#records[this.#at];
  }

  /** @returns whether there is a first record */
  async fill(): Promise<boolean> {
    if (this.first !== undefined) return true;
    this.#records = (await this.#reader.next()) ?? [];
    this.#at = 0;
    return this.first !== undefined;
  }

  /** Takes the first record, which must exist. */
  take(): KafkaRecord {
    const { first } = this;
    if (first === undefined) throw new RangeError('expected a record that has been fetched, got none');
    this.#at += 1;
    return first;
  }
}

/** Returns the heads that are not at their ends. */
async function present(heads: readonly Head[]): Promise<readonly Head[]> {
  const filled = await Promise.all(heads.map((head) => head.fill()));
  return heads.filter((_, index) => filled[index]);
}

/** There are few partitions, so a heap is not worth it. */
function earliest(heads: readonly Head[]): Head {
  const timeOf = (head: Head) => head.first?.timestamp ?? Infinity;
  return heads.reduce((best, head) => (timeOf(head) < timeOf(best) ? head : best));
}
