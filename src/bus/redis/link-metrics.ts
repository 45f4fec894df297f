import type { Metrics } from '../../metrics.ts';

/** The metrics of a link. If there are several links, something in between may add them up. */
export interface LinkMetrics extends Pick<Metrics, 'publishes' | 'redisNotMaster' | 'missedRead'> {
  readonly busConnected: Pick<Metrics['busConnected'], 'set'>;
  readonly busOutages: Pick<Metrics['busOutages'], 'inc'>;
}
