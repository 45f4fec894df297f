/** How long partitions have stood still, and which of their events came more than once. */
export class Arrivals {
  readonly #now: () => number;
  readonly #seen: readonly Set<number>[];
  #last: number[] = [];
  #longest: number[] = [];
  /** Since it was made. */
  doubled = 0;

  /** @param now in ms */
  constructor(partitions: number, now: () => number) {
    this.#now = now;
    this.#seen = Array.from({ length: partitions }, () => new Set<number>());
    this.restart();
  }

  /** Partitions stand still from now on, until something comes. */
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

  /** @returns in ms, of the partition that stood still for longest */
  longestOf(partitions: readonly number[]): number {
    return Math.max(...partitions.map((partition) => this.#longestOf(partition)));
  }

  #longestOf(partition: number): number {
    const sinceLast = this.#now() - (this.#last[partition] as number);
    return Math.max(this.#longest[partition] as number, sinceLast);
  }
}
