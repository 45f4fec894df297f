import type { Log } from '../log.ts';
import type { TracedSteps } from '../events/trace.ts';
import type { BoundedLabels } from '../support/bounded-labels.ts';
import type { ExecutionServices } from './execution-runner.ts';
import type { LastingServices } from './lasting-services.ts';

/** What all groups of a hub have in common. */
export interface GroupServices extends ExecutionServices, LastingServices {
  readonly log: Log;
  /** Paths of viewers, for a metric's label. */
  readonly paths: BoundedLabels;
  /** Most events of one subscriber that wait to be delivered to it. */
  readonly maxWaiting: number;
  readonly trace?: TracedSteps | undefined;
}
