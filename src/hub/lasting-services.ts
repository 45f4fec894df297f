import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { ByteSource } from '../support/byte-budget.ts';
import { systemTimers, type Timers } from '../support/clock.ts';
import { FairLimiter } from '../support/fair-limiter.ts';
import type { DeliveryServices } from './delivery-order.ts';
import { ReplayedResults } from './resume/replayed-results.ts';
import { DueThrottles } from './throttle/due-throttles.ts';
import { HeldBytes } from './throttle/held-bytes.ts';
import type { WorkBudget } from './work-budget.ts';

/** What one hub has for all its groups. Nothing of a graph: it goes on when that is replaced. */
export interface LastingServices {
  readonly delivery: DeliveryServices;
  /** For synchronous executions: see SharedExecution. */
  readonly late: FairLimiter;
  /** Of the groups that subscribers resume in. */
  readonly replayed: ReplayedResults;
  readonly heldBytes: HeldBytes;
  readonly dueThrottles: DueThrottles;
  /** Of throttles. */
  readonly timers: Timers;
}

interface LastingOptions {
  readonly budget: WorkBudget;
  readonly historyRoom?: ByteSource;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms, of a monotonic clock. */
  readonly now?: () => number;
  readonly timers?: Timers;
}

export function lastingServices({
  budget,
  historyRoom,
  metrics,
  log,
  now,
  timers = systemTimers,
}: LastingOptions): LastingServices {
  return {
    delivery: { budget, metrics, log },
    late: new FairLimiter(Infinity, now),
    replayed: new ReplayedResults(historyRoom?.mostOfOwner),
    heldBytes: new HeldBytes(),
    dueThrottles: new DueThrottles(budget, log),
    timers,
  };
}
