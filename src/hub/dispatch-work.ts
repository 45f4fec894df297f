import type { Counter } from 'prom-client';
import type { WorkBudget } from './work-budget.ts';

/**
 * The work of finding the subscribers of events: thousands of groups may listen to one channel, each with its own filter.
 * It is part of a turn's work, but also counted by itself: a message that needs too much of it is handed on over several
 * turns.
 */
export class DispatchWork {
  readonly #budget: Pick<WorkBudget, 'spend'>;
  readonly #filtered: Counter;
  /** In the units of `UNITS`, since the process began. */
  spent = 0;
  #rejections = 0;

  /** @param filtered counts events that a filter has let through for no subscriber */
  constructor(budget: Pick<WorkBudget, 'spend'>, filtered: Counter) {
    this.#budget = budget;
    this.#filtered = filtered;
  }

  spend(units: number): void {
    this.spent += units;
    this.#budget.spend(units);
  }

  /** The filters of so many groups have let an event through for no subscriber. */
  rejected(groups = 1): void {
    this.#rejections += groups;
  }

  /** Adds the rejections to the metric, once for many groups: counting takes longer than most filters. */
  count(): void {
    if (this.#rejections === 0) return;
    this.#filtered.inc(this.#rejections);
    this.#rejections = 0;
  }
}
