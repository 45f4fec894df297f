import type { Config } from '../config/settings.ts';
import type { TracedSteps } from '../events/trace.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { PressureLevel } from '../pressure/pressure-level.ts';
import type { Budget } from './create-budget.ts';

/** Values that most parts of the gateway need. */
export interface Basics {
  readonly config: Config;
  readonly processes: number;
  readonly pressure: PressureLevel;
  readonly budget: Budget;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly trace?: TracedSteps | undefined;
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
}
