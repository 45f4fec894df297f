import type { Log } from '../log.ts';
import type { BoundedLabels } from '../support/bounded-labels.ts';
import type { FairLimiter } from '../support/fair-limiter.ts';
import type { DeliveryServices } from './delivery-order.ts';
import type { ExecutionServices } from './execution-runner.ts';

/** What all groups of a hub have in common. */
export interface GroupServices extends ExecutionServices {
  readonly log: Log;
  /** Nothing of a graph: what delivers goes on when it is replaced. */
  readonly delivery: DeliveryServices;
  /** For synchronous executions: see SharedExecution. */
  readonly late: FairLimiter;
  /** Paths of viewers, for a metric's label. */
  readonly paths: BoundedLabels;
  /** Most events of one subscriber that wait to be delivered to it. */
  readonly maxWaiting: number;
}
