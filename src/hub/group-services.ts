import type { Log } from '../log.ts';
import type { BoundedLabels } from '../support/bounded-labels.ts';
import type { FairLimiter } from '../support/fair-limiter.ts';
import type { ExecutionServices } from './execution-runner.ts';
import type { ReplayedResults } from './resume/replayed-results.ts';
import type { DueThrottles } from './throttle/due-throttles.ts';
import type { HeldBytes } from './throttle/held-bytes.ts';

/** What all groups of a hub have in common. */
export interface GroupServices extends ExecutionServices {
  readonly log: Log;
  /** For synchronous executions: see SharedExecution. */
  readonly late: FairLimiter;
  /** Paths of viewers, for a metric's label. */
  readonly paths: BoundedLabels;
  /** Of the groups that subscribers resume in. */
  readonly replayed: ReplayedResults;
  /** Most events of one subscriber that wait to be delivered to it. */
  readonly maxWaiting: number;
  readonly heldBytes: HeldBytes;
  readonly dueThrottles: DueThrottles;
}
