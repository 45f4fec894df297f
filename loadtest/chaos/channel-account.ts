/**
 * Whether the client knows that an event is missing: it was told between the event before and the next one (`told`), it
 * was told after the next one (`late`), or it was not told (`untold`).
 */
export type Knowledge = 'told' | 'late' | 'untold';

/** Consecutive numbers of events that have not come. */
export interface Hole {
  readonly channel: string;
  readonly from: number;
  readonly to: number;
  readonly knowledge: Knowledge;
}

/** What one subscription has received of one channel, whose events are numbered from 1. */
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

  /** The number of events that have come; an event that comes twice counts once. */
  get received(): number {
    return this.#last - this.#missing.size;
  }

  get doubled(): number {
    return this.#doubled;
  }

  /** The number of events that have come behind a later one. */
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

  /** @param sent the last number that was sent; no event comes after this call */
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
