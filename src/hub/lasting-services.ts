import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { systemTimers, type Timers } from '../support/clock.ts';
import { DispatchWork } from './dispatch-work.ts';
import { MessageInHand } from './message-in-hand.ts';
import { FairLimiter } from '../support/fair-limiter.ts';
import type { HubBytes } from './hub-bytes.ts';
import type { DeliveryServices } from './delivery-order.ts';
import { ReplayedResults } from './resume/replayed-results.ts';
import { DueThrottles } from './throttle/due-throttles.ts';
import { HeldBytes } from '../support/held-bytes.ts';
import type { Throttle } from './throttle/throttle.ts';
import type { WorkBudget } from './work-budget.ts';

/** What one hub has for all its groups. It holds nothing of a graph, so it stays when the graph is replaced. */
export interface LastingServices {
  readonly delivery: DeliveryServices;
  readonly work: DispatchWork;
  readonly inHand: MessageInHand;
  /** For synchronous executions: see SharedExecution. */
  readonly late: FairLimiter;
  /** The results of the groups that subscribers resume in. */
  readonly replayed: ReplayedResults;
  readonly heldBytes: HeldBytes<Throttle>;
  readonly dueThrottles: DueThrottles;
  /** The timers of throttles. */
  readonly timers: Timers;
}

interface LastingOptions {
  readonly budget: WorkBudget;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms, of a monotonic clock. */
  readonly now?: () => number;
  readonly timers?: Timers;
}

export function lastingServices(
  { budget, metrics, log, now, timers = systemTimers }: LastingOptions,
  bytes: HubBytes,
): LastingServices {
  const work = new DispatchWork(budget, metrics.filtered);
  return {
    work,
    inHand: new MessageInHand(work),
    delivery: { budget, metrics, log },
    late: new FairLimiter(Infinity, now),
    replayed: new ReplayedResults(bytes.history.mostOfOwner),
    heldBytes: new HeldBytes(bytes.throttles, (throttle) => throttle.flush()),
    dueThrottles: new DueThrottles(budget, log),
    timers,
  };
}
