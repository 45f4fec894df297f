import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

export type Counted = Pick<Metrics, 'graphReloads'>;

/** Starts at 0: otherwise Prometheus would see no increase at the first. */
export function beginCount({ graphReloads }: Counted): void {
  for (const outcome of ['done', 'refused']) graphReloads.inc({ outcome }, 0);
}

/** @param faults why the graph can't be used */
export function tellRefusal(faults: readonly string[], { graphReloads }: Counted, log: Log): void {
  graphReloads.inc({ outcome: 'refused' });
  for (const fault of faults) log.error(fault);
  log.error({ faults: faults.length }, 'the graph can not be reloaded; the one before stays in force');
}
