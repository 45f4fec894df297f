import type { Gauge } from 'prom-client';
import { UNITS, type WorkBudget } from './work-budget.ts';

/** The bus, as far as the backlog controls it. */
export interface Source {
  pause(): void;
  resume(): void;
}

/** What the backlog looks at before it takes a message, and resets at the start of a turn. */
export type TurnBudget = Pick<WorkBudget, 'spent' | 'writing' | 'renew'>;

/** Whom messages are handed to. Its methods must not throw. */
interface Taker<Channel> {
  /** @returns whether it is done with the message; `goOn` is called in later turns else, before any other is taken */
  take(channel: Channel, payload: Buffer | string): boolean;
  /** Goes on with the message. @returns whether it is done */
  goOn(): boolean;
  /** Goes on with the message, to its end. */
  finish(): void;
}

interface Waiting<Channel> {
  readonly channel: Channel;
  readonly payload: Buffer | string;
}

/**
 * Taken in a turn even if that makes it longer: writes are what costs, so the more results leave in each the better.
 * CPU per delivery in a flood with 16, 32 and 64: 1.2, 1.0 and 0.65 µs for 4,000 sockets, while the 99th percentile of
 * handshakes goes from 95 to 140 ms; with 19,000 sockets 4.5 µs for the 3 events that `UNITS.turn` comes to, 1.6 for 13.
 */
const LEAST_MESSAGES = 64;

/** Beyond either the source is paused; it is resumed when half is left. */
const MAX_MESSAGES = 8_192;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Messages of the bus on their way into the hub, each taken in the turn in which it comes as long as the turn's budget
 * is not spent. Redis may send hundreds at once, each for thousands of subscribers: what is too much for one turn waits,
 * in order, so that connections are accepted and answered in between.
 *
 *     bus ──► taken at once, within the turn's units
 *        └──► backlog ──next turn──► taken, likewise, once the last turn's sockets have been written to
 *
 * A backlog that grows past its bound pauses the source. Messages of Redis then stay in the socket, as they would while
 * the process is busy: Redis buffers them, and disconnects a client whose buffer grows too large.
 */
export class Backlog<Channel> {
  readonly #taker: Taker<Channel>;
  readonly #turn: TurnBudget;
  readonly #source: Source;
  readonly #size: Gauge;
  #waiting: (Waiting<Channel> | (() => void))[] = [];
  /** Index of the first that waits. */
  #next = 0;
  /** The last message that was taken is not done. */
  #isUnfinished = false;
  #bytes = 0;
  /** Messages in this turn. */
  #taken = 0;
  #paused = false;
  #scheduled = false;

  constructor(taker: Taker<Channel>, turn: TurnBudget, source: Source, size: Gauge) {
    this.#taker = taker;
    this.#turn = turn;
    this.#source = source;
    this.#size = size;
  }

  add(channel: Channel, payload: Buffer | string): void {
    // What was spent since the last turn is of turns in which no message came.
    if (!this.#scheduled) this.#turn.renew();
    this.#schedule();
    if (this.#count === 0 && this.#mayTake) {
      this.#take(channel, payload);
      return;
    }
    this.#waiting.push({ channel, payload });
    this.#bytes += payload.length;
    if (this.#count > MAX_MESSAGES || this.#bytes > MAX_BYTES) {
      this.#paused = true;
      // Again for each further message: it may come from a connection that has been made anew.
      this.#source.pause();
    }
  }

  /**
   * Calls back once all that waits now has been taken: at once if there is nothing.
   *
   * @param callback must not throw
   */
  afterWaiting(callback: () => void): void {
    if (this.#count > 0) this.#waiting.push(callback);
    else callback();
  }

  /** Has the message done that is being taken, in this turn, however long that takes. */
  finish(): void {
    if (!this.#isUnfinished) return;
    this.#taker.finish();
    this.#isUnfinished = false;
  }

  get #count(): number {
    return this.#waiting.length - this.#next + (this.#isUnfinished ? 1 : 0);
  }

  #take(channel: Channel, payload: Buffer | string): void {
    this.#taken += 1;
    this.#isUnfinished = !this.#taker.take(channel, payload);
  }

  get #mayTake(): boolean {
    const { writing, spent } = this.#turn;
    return !writing && spent < (this.#taken < LEAST_MESSAGES ? UNITS.longestTurn : UNITS.turn);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#scheduled = false;
    this.#turn.renew();
    this.#taken = 0;
    if (this.#isUnfinished && this.#mayTake) this.#isUnfinished = !this.#taker.goOn();
    while (!this.#isUnfinished && this.#count > 0 && this.#mayTake) this.#takeNext();
    this.#size.set(this.#count);
    if (this.#count > 0) this.#schedule();
    this.#dropTaken();
    if (this.#paused && this.#count <= MAX_MESSAGES / 2 && this.#bytes <= MAX_BYTES / 2) {
      this.#paused = false;
      this.#source.resume();
    }
  }

  #takeNext(): void {
    const first = this.#waiting[this.#next];
    this.#next += 1;
    if (first === undefined) return;
    if (typeof first === 'function') {
      first();
      return;
    }
    this.#bytes -= first.payload.length;
    this.#take(first.channel, first.payload);
  }

  /** Releases what has been taken. */
  #dropTaken(): void {
    if (this.#next === 0) return;
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}
