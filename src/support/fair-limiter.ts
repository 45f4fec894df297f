import { LinkedQueue, type Place } from './linked-queue.ts';

/** Time for starting waiting work in one turn of the event loop, as the work may be synchronous. */
const TURN_MS = 10;

/** The owner of work: the key of a client, or else the client's connection. */
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
 * Limits how many pieces of work run at once, and divides the places between owners. An owner is the client that the
 * work is done for, however many connections the client has, or the connection of an unknown client.
 *
 * - An owner may take a place while it has fewer places than are free. So a single owner gets half of all places, two
 *   get a third each, and a later owner finds a free place, however much work of the other owners waits.
 * - Waiting work of one owner starts in its order. Owners take turns, with one piece of work each.
 *
 *     #turns ──► ann ──► bob ──► cai        owners with work that waits
 *                 │       │       └ c1
 *                 │       └ b1
 *                 └ a1, a2, a3, …           a release starts a1, then b1, c1, a2
 *
 * Starting, releasing and leaving take the same time, however much work waits. An owner that has too many places is
 * passed over in its turn; there are never more of these owners than places.
 *
 * Own code, as Limiter: p-queue and bottleneck have priorities and groups, but no turns of groups within one limit.
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
  /** Whether the next turn of the event loop starts waiting work. */
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
   * Calls `start` now, or in the owner's turn. `start` takes a place with `take` if its work turns out to need one.
   *
   * @returns undefined if `start` has been called; else a function that withdraws the work until `start` is called
   */
  whenFree(owner: WorkOwner, start: () => void): (() => void) | undefined {
    if (this.#mayStart(this.#shares.get(owner)) && !this.holds(owner)) {
      start();
      return undefined;
    }
    return this.#wait(owner, start);
  }

  /** Calls `start` in the owner's turn, but never within this call. @returns a function that withdraws the work */
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

  /** Gives back a place of the owner, and starts waiting work: several pieces, if they take no places. */
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

  /** Started work may release its place at once: the loop that has started the work then goes on. */
  #startWaiting(): void {
    if (this.#starting || this.#goesOn) return;
    this.#starting = true;
    const until = this.#now() + TURN_MS;
    try {
      // Ends when all owners have been passed over: none of them may take another place.
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
