import type { DispatchWork } from './dispatch-work.ts';
import type { Some } from './filter-index.ts';
import { UNITS } from './work-budget.ts';

/** A group, as far as messages are handed to it. */
export interface Reached {
  /** Number of the last message that it has been handed. */
  reached: number;
}

/** One message on its way to the groups of its channel. */
interface Message {
  readonly number: number;
  readonly groups: { has(group: Reached): boolean };
  /** The groups that have not got it yet, without those that are closed meanwhile. */
  readonly rest: Iterator<Reached>;
  /** How many groups `rest` has at most. */
  left: number;
  dispatch(group: Reached): void;
}

/**
 * The message that is being handed to the groups of its channel, one after the other, as many as one turn of the event loop
 * has time for. No other message is taken until all groups have it, so each group gets the messages in the order of the
 * channels.
 *
 *     groups   1  2  3  4  5  6  7
 *     turn 1   ├──────┤
 *     turn 2            ├─────┤          a subscriber joins group 7: it is handed the message before
 *     turn 3                     ├──┤
 */
export class MessageInHand {
  readonly #work: DispatchWork;
  #message: Message | undefined;
  #numbers = 0;

  constructor(work: DispatchWork) {
    this.#work = work;
  }

  /**
   * @param groups of the channel
   * @param concerned the groups that are to get it
   * @param dispatch must not throw
   * @returns whether all have it; if not, the rest needs `goOn`
   */
  take<Group extends Reached>(
    groups: { has(group: Group): boolean },
    concerned: Some<Group>,
    dispatch: (group: Group) => void,
  ): boolean {
    this.#numbers += 1;
    this.#message = {
      number: this.#numbers,
      groups,
      rest: concerned.values(),
      left: concerned.size,
      dispatch,
    };
    return this.goOn();
  }

  /** Hands it to further groups. @returns whether all have it */
  goOn(): boolean {
    return this.#handOn(this.#work.spent + UNITS.turn);
  }

  /** Hands it to all others, however long that takes. */
  finish(): void {
    this.#handOn(Infinity);
  }

  /** Hands it to this group now, if the group still lacks it: a subscriber that joins next must not get it. */
  catchUp(group: Reached): void {
    if (this.#message?.groups.has(group) === true) this.#hand(this.#message, group);
  }

  /** The group has been made just now: it is to get later messages only. */
  passOver(group: Reached): void {
    group.reached = this.#numbers;
  }

  #handOn(end: number): boolean {
    const message = this.#message;
    if (message === undefined) return true;
    while (message.left > 0) {
      if (this.#work.spent >= end) {
        this.#work.count();
        return false;
      }
      message.left -= 1;
      const next = message.rest.next();
      if (next.done === true) break;
      this.#hand(message, next.value);
    }
    this.#message = undefined;
    this.#work.count();
    return true;
  }

  #hand(message: Message, group: Reached): void {
    if (group.reached === message.number) return;
    group.reached = message.number;
    message.dispatch(group);
  }
}
