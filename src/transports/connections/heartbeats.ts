import type { ClientConnection } from './client-connection.ts';

/** A ping takes 30 µs. */
const TURNS_PER_SECOND = 4;

/** For long intervals: a turn has a set of its own. */
const MOST_TURNS = 240;

/**
 * How much is caught up with after a late timer: ms, and a share of the interval. More would ask a client again before its last
 * answer can have been read.
 */
const MOST_LATE = { ms: 1_000, share: 1 / 4 };

type Beating = Pick<ClientConnection, 'id' | 'checkHeartbeat'>;

/**
 * Checks each connection once in an interval, always in the same turn of it: as many in each turn, however many have connected
 * at the same time. Turns that come late do not make the interval longer.
 */
export class Heartbeats {
  /** Connections by the turn in which they are checked. Ids count up, so that turns get equally many. */
  readonly #turns: readonly Set<Beating>[];
  readonly #turnMs: number;
  readonly #mostLateMs: number;
  #turn = 0;
  /** When the next turn is due: ms of `performance.now()`. */
  #dueAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param seconds the interval; 0: no connection is checked */
  constructor(seconds: number) {
    const length = Math.min(seconds * TURNS_PER_SECOND, MOST_TURNS);
    this.#turns = Array.from({ length }, () => new Set());
    this.#turnMs = (seconds * 1_000) / length;
    this.#mostLateMs = Math.min(MOST_LATE.ms, seconds * 1_000 * MOST_LATE.share);
  }

  start(): void {
    if (this.#turns.length === 0) return;
    this.#dueAt = performance.now();
    this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  add(connection: Beating): void {
    this.#turnOf(connection)?.add(connection);
  }

  remove(connection: Beating): void {
    this.#turnOf(connection)?.delete(connection);
  }

  #turnOf({ id }: Beating): Set<Beating> | undefined {
    return this.#turns[parseInt(id, 36) % this.#turns.length];
  }

  #wait(): void {
    const now = performance.now();
    this.#dueAt = Math.max(this.#dueAt + this.#turnMs, now - this.#mostLateMs);
    this.#timer = setTimeout(() => this.#beat(), Math.max(1, this.#dueAt - now)).unref();
  }

  #beat(): void {
    this.#wait();
    const turn = this.#turns[this.#turn] ?? [];
    this.#turn = (this.#turn + 1) % this.#turns.length;
    for (const connection of turn) connection.checkHeartbeat();
  }
}
