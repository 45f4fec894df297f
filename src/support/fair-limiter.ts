import { LinkedQueue, type Place } from './linked-queue.ts';

/** Work that has waited is started for about so long in one turn of the event loop: it may be synchronous. */
const TURN_MS = 10;

/** Whose work it is: the key of a client, else its connection. */
export type WorkOwner = object | string;

/** The work of one owner. */
interface Share {
  readonly owner: WorkOwner;
  running: number;
  readonly waiting: LinkedQueue<() => void>;
  /** Undefined if nothing waits. */
  turn: Place<Share> | undefined;
}

/**
 * Lets at most so many pieces of work run at once, and shares the places out between owners: the clients that the work is
 * done for, however many connections they have, or the connections of those that are not known.
 *
 * - An owner may take a place as long as it has fewer than are free. So a single one gets half of all, two get a third
 *   each, and one that comes later finds a place free, however much work the others have waiting.
 * - Work that waits is started in the order in which its owner has brought it, one piece of each owner in turn.
 *
 *     #turns ──► ann ──► bob ──► cai        owners with work that waits
 *                 │       │       └ c1
 *                 │       └ b1
 *                 └ a1, a2, a3, …           a release starts a1, then b1, c1, a2
 *
 * Starting, releasing and leaving take the same time however much waits. An owner that has too many places is passed
 * over in its turn: there are never more of these than places.
 *
 * Own code: see Limiter. p-queue and bottleneck have priorities and groups, but no turns between groups within one bound.
 */
export class FairLimiter {
  readonly #maxRunning: number;
  readonly #now: () => number;
  /** Owners that have work, running or waiting. */
  readonly #shares = new Map<WorkOwner, Share>();
  readonly #turns = new LinkedQueue<Share>();
  #running = 0;
  #waiting = 0;
  #starting = false;
  /** The next turn of the event loop starts what may start. */
  #goesOn = false;

  /** @param now ms, of a monotonic clock */
  constructor(maxRunning: number, now = (): number => performance.now()) {
    this.#maxRunning = maxRunning;
    this.#now = now;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Pieces of work that the owner has, running or waiting. */
  loadOf(owner: WorkOwner): number {
    const share = this.#shares.get(owner);
    return share === undefined ? 0 : share.running + share.waiting.size;
  }

  /** Whether work of the owner waits. */
  holds(owner: WorkOwner): boolean {
    return (this.#shares.get(owner)?.waiting.size ?? 0) > 0;
  }

  /**
   * Calls `start` now, or when it is the owner's turn. It takes a place with `take` if its work turns out to need one.
   *
   * @returns undefined if it has been called; else how the work leaves, which it may do until `start` is called
   */
  whenFree(owner: WorkOwner, start: () => void): (() => void) | undefined {
    if (this.#mayStart(this.#shares.get(owner)) && !this.holds(owner)) {
      start();
      return undefined;
    }
    return this.#wait(owner, start);
  }

  /** Calls `start` when it is the owner's turn, and not within this call; else as `whenFree`. */
  later(owner: WorkOwner, start: () => void): () => void {
    if (!this.#goesOn) this.#goOnLater();
    return this.#wait(owner, start);
  }

  #wait(owner: WorkOwner, start: () => void): () => void {
    const share = this.#shares.get(owner) ?? this.#open(owner);
    const place = share.waiting.push(start);
    share.turn ??= this.#turns.push(share);
    this.#waiting += 1;
    return () => this.#leave(share, place);
  }

  take(owner: WorkOwner): void {
    const share = this.#shares.get(owner) ?? this.#open(owner);
    share.running += 1;
    this.#running += 1;
  }

  /** Gives back a place that the owner has taken, and starts what may start: more than one, where that takes no place. */
  release(owner: WorkOwner): void {
    const share = this.#shares.get(owner);
    if (share === undefined) throw new Error('expected an owner that has taken a place, got another');
    share.running -= 1;
    this.#running -= 1;
    this.#closeIfIdle(share);
    this.#startWaiting();
  }

  #open(owner: WorkOwner): Share {
    const share: Share = { owner, running: 0, waiting: new LinkedQueue(), turn: undefined };
    this.#shares.set(owner, share);
    return share;
  }

  #closeIfIdle(share: Share): void {
    if (share.running === 0 && share.waiting.size === 0) this.#shares.delete(share.owner);
  }

  #mayStart(share: Share | undefined): boolean {
    return (share?.running ?? 0) < this.#maxRunning - this.#running;
  }

  #leave(share: Share, place: Place<() => void>): void {
    share.waiting.remove(place);
    this.#waiting -= 1;
    if (share.waiting.size > 0) return;
    if (share.turn !== undefined) this.#turns.remove(share.turn);
    share.turn = undefined;
    this.#closeIfIdle(share);
  }

  /** Work that is started may release its place at once: then the loop that has started it goes on. */
  #startWaiting(): void {
    if (this.#starting || this.#goesOn) return;
    this.#starting = true;
    const until = this.#now() + TURN_MS;
    try {
      // Once all owners have been passed over, none of them may have another place.
      for (let passedOver = 0; passedOver < this.#turns.size;) {
        if (this.#startNext()) passedOver = 0;
        else passedOver += 1;
        if (this.#running >= this.#maxRunning) return;
        if (this.#now() >= until) {
          this.#goOnLater();
          return;
        }
      }
    } finally {
      this.#starting = false;
    }
  }

  #goOnLater(): void {
    this.#goesOn = true;
    setImmediate(() => {
      this.#goesOn = false;
      this.#startWaiting();
    });
  }

  /** @returns false if it is the turn of an owner that has too many places */
  #startNext(): boolean {
    const share = this.#turns.shift();
    if (share === undefined) return false;
    const may = this.#mayStart(share);
    const start = may ? share.waiting.shift() : undefined;
    share.turn = share.waiting.size > 0 ? this.#turns.push(share) : undefined;
    if (start === undefined) return false;
    this.#waiting -= 1;
    this.#closeIfIdle(share);
    start();
    return true;
  }
}
