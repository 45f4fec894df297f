import type { Subscriber } from '../subscriber.ts';

/** One error for all: making one for each subscriber would take as long as everything else when it leaves. */
const LEFT = new Error('the subscriber has left');

/** Subscribers of a group that are being resumed. */
export class Resuming {
  readonly #leaving = new Map<Subscriber, AbortController>();

  get size(): number {
    return this.#leaving.size;
  }

  [Symbol.iterator](): Iterator<Subscriber> {
    return this.#leaving.keys();
  }

  has(subscriber: Subscriber): boolean {
    return this.#leaving.has(subscriber);
  }

  /** @returns aborts if it leaves before it is taken */
  add(subscriber: Subscriber): AbortSignal {
    const leaving = new AbortController();
    this.#leaving.set(subscriber, leaving);
    return leaving.signal;
  }

  /** It goes on in the group. @returns false if it was not here */
  take(subscriber: Subscriber): boolean {
    return this.#leaving.delete(subscriber);
  }

  /** It leaves. @returns false if it was not here */
  remove(subscriber: Subscriber): boolean {
    this.#leaving.get(subscriber)?.abort(LEFT);
    return this.#leaving.delete(subscriber);
  }
}
