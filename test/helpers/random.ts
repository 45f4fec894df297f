/** Pseudo-random numbers from a seed: the same seed gives the same numbers on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Each use has its own sequence, so that it stays the same when another use draws more or fewer numbers. */
  static of(seed: number, use: string): Random {
    let hash = 2_166_136_261 ^ seed;
    for (let index = 0; index < use.length; index += 1) {
      hash = Math.imul(hash ^ use.charCodeAt(index), 16_777_619);
    }
    const random = new Random(hash);
    // The first numbers of neighbouring seeds would be similar.
    for (let skipped = 0; skipped < 3; skipped += 1) random.next();
    return random;
  }

  /** 0 to 1, like Math.random (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('expected a list to pick from, got an empty one');
    return item;
  }
}
