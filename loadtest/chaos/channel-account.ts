/**
 * Whether the client knows of an event that has not come: it was told after the event before and before the next one; it
 * was told later than that; it was not told.
 */
export type Knowledge = 'told' | 'late' | 'untold';

/** Numbers that follow each other, and have not come. */
export interface Hole {
  readonly channel: string;
  readonly from: number;
  readonly to: number;
  readonly knowledge: Knowledge;
}

/** What has become of the events of one channel, whose numbers begin with 1, for one subscription. */
export class ChannelAccount {
  readonly #channel: string;
  readonly #missing = new Map<number, Knowledge>();
  #last = 0;
  #isTold = false;
  #doubled = 0;
  #reordered = 0;

  constructor(channel: string) {
    this.#channel = channel;
  }

  /** The highest number that has come. */
  get last(): number {
    return this.#last;
  }

  /** Events that have come, each counted once. */
  get received(): number {
    return this.#last - this.#missing.size;
  }

  get doubled(): number {
    return this.#doubled;
  }

  /** Events that have come behind a later one. */
  get reordered(): number {
    return this.#reordered;
  }

  event(n: number): void {
    if (n > this.#last) {
      this.#miss(n - 1);
      this.#last = n;
      this.#isTold = false;
    } else if (this.#missing.delete(n)) {
      this.#reordered += 1;
    } else {
      this.#doubled += 1;
    }
  }

  /** The client has learnt that it may have missed events. */
  told(): void {
    this.#isTold = true;
    for (const [n, knowledge] of this.#missing) if (knowledge === 'untold') this.#missing.set(n, 'late');
  }

  /** @param sent the last number that was sent: nothing comes any more */
  close(sent: number): readonly Hole[] {
    this.#miss(sent);
    this.#last = Math.max(this.#last, sent);
    const holes: Hole[] = [];
    for (const [n, knowledge] of [...this.#missing].toSorted(([one], [other]) => one - other)) {
      const before = holes.at(-1);
      if (before?.to === n - 1 && before.knowledge === knowledge)
        holes[holes.length - 1] = { ...before, to: n };
      else holes.push({ channel: this.#channel, from: n, to: n, knowledge });
    }
    return holes;
  }

  #miss(until: number): void {
    for (let n = this.#last + 1; n <= until; n += 1) this.#missing.set(n, this.#isTold ? 'told' : 'untold');
  }
}
