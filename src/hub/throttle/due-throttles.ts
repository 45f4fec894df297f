import type { Log } from '../../log.ts';
import { UNITS, type WorkBudget } from '../work-budget.ts';

/** A throttle with an interval that is over. */
interface DueThrottle {
  /** Begins the next event that is due. Even if this throws, the event is no longer due. @returns false if there is none */
  beginNext(): boolean;
}

/**
 * The throttles of a pod whose intervals are over. Intervals of thousands of groups may end in the same turn of the event
 * loop: their throttles together begin as many events as one turn has time for, in the order in which the intervals ended;
 * the rest follows in the next turns.
 */
export class DueThrottles {
  readonly #budget: WorkBudget;
  readonly #log: Log;
  readonly #waiting = new Set<DueThrottle>();
  /** The turn is over when the budget has spent so much; undefined until the first throttle of the turn. */
  #end: number | undefined;

  constructor(budget: WorkBudget, log: Log) {
    this.#budget = budget;
    this.#log = log;
  }

  add(throttle: DueThrottle): void {
    this.#waiting.add(throttle);
    if (this.#end === undefined) this.#beginTurn();
    this.#run();
  }

  #beginTurn(): void {
    this.#end = this.#budget.spent + UNITS.turn;
    setImmediate(() => {
      this.#end = undefined;
      if (this.#waiting.size === 0) return;
      this.#beginTurn();
      this.#run();
    });
  }

  #run(): void {
    for (const throttle of this.#waiting) {
      if (this.#isOver) return;
      while (!this.#isOver && this.#waiting.has(throttle)) {
        if (!this.#beginNext(throttle)) this.#waiting.delete(throttle);
      }
    }
  }

  /** Catches errors, as no message is being taken that would catch them: they would end the process. */
  #beginNext(throttle: DueThrottle): boolean {
    try {
      return throttle.beginNext();
    } catch (error) {
      this.#log.error({ err: error }, 'a group failed on an event that was held');
      return true;
    }
  }

  get #isOver(): boolean {
    return this.#budget.writing || this.#budget.spent >= (this.#end ?? 0);
  }
}
