import type { LeftOut } from '../result.ts';
import type { Subscriber } from '../subscriber.ts';

/** How many events were left out for an event that supersedes them, by subscriber: some have joined after the first. */
export class LeftOutCounts implements LeftOut {
  #same = 0;
  #others: Map<Subscriber, number> | undefined;

  /** For all but those of `set`. */
  setAll(count: number): void {
    this.#same = count;
  }

  set(subscriber: Subscriber, count: number): void {
    this.#others ??= new Map();
    this.#others.set(subscriber, count);
  }

  of(subscriber: Subscriber): number {
    return this.#others?.get(subscriber) ?? this.#same;
  }
}
