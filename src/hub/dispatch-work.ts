import type { Counter } from 'prom-client';
import type { WorkBudget } from './work-budget.ts';

/**
 * What it takes to find out whom events are for: thousands of groups may listen to one channel, each with a filter of its
 * own. It is part of a turn's work, and known apart from that, since a message whose groups take too much of it is handed
 * on in further turns.
 */
export class DispatchWork {
  readonly #budget: Pick<WorkBudget, 'spend'>;
  readonly #filtered: Counter;
  /** In the units of `UNITS`, since the process began. */
  spent = 0;
  #rejections = 0;

  /** @param filtered counts events that a filter has let through for nobody */
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

  /** Counts rejections: once for many groups, as that takes longer than most filters. */
  count(): void {
    if (this.#rejections === 0) return;
    this.#filtered.inc(this.#rejections);
    this.#rejections = 0;
  }
}
