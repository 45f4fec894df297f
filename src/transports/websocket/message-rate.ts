import type { OwnTurns, Turns, TurnTaker } from '../../support/turns.ts';

/**
 * Most waiting messages of one connection. A socket that is no longer read still hands over the bytes that it has received,
 * up to 64 KB.
 */
const MAX_WAITING = 500;

/** Bounds what each connection may send: in messages, in subscriptions and queries, and in time of the event loop. */
export class MessageRate {
  readonly #turns: Turns;
  /** The part of a connection's share that one message takes, in seconds. */
  readonly #message: number;
  readonly #subscribe: number;

  constructor(turns: Turns, messagesPerSecond: number, subscribesPerSecond: number) {
    this.#turns = turns;
    this.#message = 1 / messagesPerSecond;
    this.#subscribe = 1 / subscribesPerSecond;
  }

  /** @param handle handles one message, at once or in its turn, and returns its type */
  message(connection: TurnTaker, handle: () => string): void {
    const job = (): number => (handle() === 'subscribe' ? this.#subscribe : this.#message);
    this.#turns.run(connection, job, MAX_WAITING);
  }

  /** Resolves to the result of `execute`; stays pending if the connection is closed before its turn. */
  inTurn<T>(connection: TurnTaker, execute: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#turns.run(connection, () => {
        try {
          resolve(execute());
        } catch (error) {
          reject(error as Error);
        }
        return 0;
      });
    });
  }

  turnsOf(connection: TurnTaker): OwnTurns {
    return this.#turns.of(connection);
  }

  /** Whether messages of the connection wait. */
  holds(connection: TurnTaker): boolean {
    return this.#turns.holds(connection);
  }

  /** The connection is closing: its messages are dropped. */
  forget(connection: TurnTaker): void {
    this.#turns.forget(connection);
  }
}
