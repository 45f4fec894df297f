/** Measures how long each partition was without events, and counts events that came more than once. */
export class Arrivals {
  readonly #now: () => number;
  readonly #seen: readonly Set<number>[];
  #last: number[] = [];
  #longest: number[] = [];
  /** The number of copies of events, never reset. */
  doubled = 0;

  /** @param now the time in ms */
  constructor(partitions: number, now: () => number) {
    this.#now = now;
    this.#seen = Array.from({ length: partitions }, () => new Set<number>());
    this.restart();
  }

  /** Measures from now on: each partition counts as without events until its next one comes. */
  restart(): void {
    this.#last = this.#seen.map(() => this.#now());
    this.#longest = this.#seen.map(() => 0);
  }

  add(partition: number, offsets: readonly number[]): void {
    const seen = this.#seen[partition] as Set<number>;
    for (const offset of offsets) {
      if (seen.has(offset)) this.doubled += 1;
      seen.add(offset);
    }
    this.#longest[partition] = this.#longestOf(partition);
    this.#last[partition] = this.#now();
  }

  /** @returns the longest time without events of any of the partitions, in ms */
  longestOf(partitions: readonly number[]): number {
    return Math.max(...partitions.map((partition) => this.#longestOf(partition)));
  }

  #longestOf(partition: number): number {
    const sinceLast = this.#now() - (this.#last[partition] as number);
    return Math.max(this.#longest[partition] as number, sinceLast);
  }
}
