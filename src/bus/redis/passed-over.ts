import type { Clock } from '../../support/clock.ts';
import { newEpoch } from '../history.ts';
import { valueOf, type CommandConnection } from './connection.ts';
import type { BusNames } from './names.ts';
import { isRefusal } from './refusals.ts';

/** A failover loses no questions older than this, and no publications: ms. */
const RECENT_MS = 60_000;

interface PassedOverOptions {
  readonly topic: string;
  readonly names: BusNames;
  readonly connection: Pick<CommandConnection, 'send'>;
  readonly clock: Clock;
}

/**
 * The questions after which this pod passes over events without subscribers: see INTEREST. A server that does not know
 * the last one was not asked: if a former master still runs beside it, pods may listen here to events passed over there.
 */
export class PassedOver {
  /** Redis holds the number of the last question under this key. */
  readonly key: string;
  readonly #options: PassedOverOptions;
  #questions = 0;
  #last = { question: 0, at: -Infinity };

  constructor(options: PassedOverOptions) {
    this.#options = options;
    // An id like that of an epoch distinguishes this pod from others.
    this.key = options.names.passedOverKey(options.topic, newEpoch());
  }

  /** @returns the number of the next question */
  nextQuestion(): number {
    this.#questions += 1;
    return this.#questions;
  }

  /** Notes that something is passed over because of the reply to this question. */
  note(question: number): void {
    this.#last = { question, at: this.#options.clock.now() };
  }

  /** @throws if Redis can't be asked */
  async isUnknown(): Promise<boolean> {
    const { connection, clock } = this.#options;
    const { question, at } = this.#last;
    if (clock.now() - at > RECENT_MS) return false;
    const [reply] = await connection.send([['GET', this.key]]);
    return isRefusal(reply) || Number(valueOf(reply)) < question;
  }
}
