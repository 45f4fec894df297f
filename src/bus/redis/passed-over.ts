import type { Clock } from '../../support/clock.ts';
import { newEpoch } from '../history.ts';
import { valueOf, type CommandConnection } from './connection.ts';
import type { BusNames } from './names.ts';
import { isRefusal } from './refusals.ts';

/** A failover loses no question that is older, as it loses no publication: ms. */
const RECENT_MS = 60_000;

interface PassedOverOptions {
  readonly topic: string;
  readonly names: BusNames;
  readonly connection: Pick<CommandConnection, 'send'>;
  readonly clock: Clock;
}

/**
 * The questions by which this pod passes over what nobody listens to: see INTEREST. A server that does not know the last one
 * was not asked; where a former master goes on beside it, others may listen here to what was passed over there.
 */
export class PassedOver {
  /** Redis holds the number of the last question under this key. */
  readonly key: string;
  readonly #options: PassedOverOptions;
  #questions = 0;
  #last = { question: 0, at: -Infinity };

  constructor(options: PassedOverOptions) {
    this.#options = options;
    // An id like that of an epoch, to tell this pod from others.
    this.key = options.names.passedOverKey(options.topic, newEpoch());
  }

  /** @returns the number of the next one */
  nextQuestion(): number {
    this.#questions += 1;
    return this.#questions;
  }

  /** By the reply to this question something is passed over. */
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
