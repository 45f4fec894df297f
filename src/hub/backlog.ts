import type { Gauge } from 'prom-client';
import type { ByteSource, Reservation } from '../support/byte-budget.ts';
import { UNITS, type WorkBudget } from './work-budget.ts';

/** The bus, as far as the backlog controls it. */
export interface Source {
  pause(): void;
  resume(): void;
}

/** What the backlog looks at before it takes a message, and resets at the start of a turn. */
export type TurnBudget = Pick<WorkBudget, 'spent' | 'writing' | 'renew'>;

/** Receives the messages. Its methods must not throw. */
interface Taker<Channel> {
  /** @returns whether it is done with the message; if not, later turns call `goOn` before another one is taken */
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
 * A turn takes so many even if that makes it longer: writes cost most, so each write should carry many results. CPU per
 * delivery in a flood with 16, 32 and 64: 1.2, 1.0 and 0.65 µs for 4,000 sockets, while the 99th percentile of handshakes
 * goes from 95 to 140 ms; with 19,000 sockets 4.5 µs for the 3 events that `UNITS.turn` comes to, 1.6 for 13.
 */
const LEAST_MESSAGES = 64;

/** With more waiting messages, or if no bytes can be reserved, the source is paused; it resumes when half is left. */
const MAX_MESSAGES = 8_192;

/**
 * Messages of the bus on their way into the hub, each taken in the turn in which it comes as long as the turn's budget is
 * not spent. Redis may send hundreds at once, each for thousands of subscribers: messages that are too much for one turn
 * wait, in order, so that connections are accepted and answered in between.
 *
 *     bus ──► taken at once, within the turn's units
 *        └──► backlog ──next turn──► taken, likewise, once the last turn's sockets have been written to
 *
 * A backlog that grows past its bound pauses the source. Messages of Redis then stay in the socket, as they would while the
 * process is busy: Redis buffers them, and disconnects a client whose buffer grows too large.
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
  readonly #reserved: Reservation;
  /** The source may resume once no more bytes than this wait; undefined: it is not paused. */
  #resumesAt: number | undefined;
  /** Messages in this turn. */
  #taken = 0;
  #scheduled = false;

  constructor(taker: Taker<Channel>, turn: TurnBudget, source: Source, bytes: ByteSource, size: Gauge) {
    this.#taker = taker;
    this.#turn = turn;
    this.#source = source;
    this.#reserved = bytes.empty(this);
    this.#size = size;
  }

  add(channel: Channel, payload: Buffer | string): void {
    // The work spent until now belongs to turns in which no message came.
    if (!this.#scheduled) this.#turn.renew();
    this.#schedule();
    if (this.#count === 0 && this.#mayTake) {
      this.#take(channel, payload);
      return;
    }
    this.#waiting.push({ channel, payload });
    this.#bytes += payload.length;
    const isFull = !this.#reserved.resize(this.#bytes);
    if (isFull || this.#count > MAX_MESSAGES) {
      this.#resumesAt = Math.min(this.#resumesAt ?? Infinity, isFull ? this.#bytes / 2 : Infinity);
      // Pauses again for each further message: it may come from a new connection, which is not paused.
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

  /** Finishes the message that is being taken, in this turn, however long that takes. */
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
    this.#reserved.resize(this.#bytes);
    if (this.#resumesAt === undefined) return;
    if (this.#count <= MAX_MESSAGES / 2 && this.#bytes <= this.#resumesAt) {
      this.#resumesAt = undefined;
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
