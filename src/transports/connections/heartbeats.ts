import type { ClientConnection } from './client-connection.ts';

/** A ping takes 30 µs. */
const TURNS_PER_SECOND = 4;

/** For long intervals: a turn has a set of its own. */
const MOST_TURNS = 240;

type Beating = Pick<ClientConnection, 'id' | 'checkHeartbeat'>;

/**
 * Checks each connection once in an interval, always in the same turn of it: as many in each turn, however many have connected
 * at the same time.
 */
export class Heartbeats {
  /** Connections by the turn in which they are checked. Ids count up, so that turns get equally many. */
  readonly #turns: readonly Set<Beating>[];
  #turn = 0;
  readonly #turnMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param seconds the interval; 0: no connection is checked */
  constructor(seconds: number) {
    const length = Math.min(seconds * TURNS_PER_SECOND, MOST_TURNS);
    this.#turns = Array.from({ length }, () => new Set());
    this.#turnMs = (seconds * 1_000) / length;
  }

  start(): void {
    if (this.#turns.length > 0) this.#timer = setInterval(() => this.#beat(), this.#turnMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
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

  #beat(): void {
    const turn = this.#turns[this.#turn] ?? [];
    this.#turn = (this.#turn + 1) % this.#turns.length;
    for (const connection of turn) connection.checkHeartbeat();
  }
}
