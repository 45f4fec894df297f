import type { Metrics } from '../../metrics.ts';

/** What a link counts; where there are several, something in between may add them up. */
export interface LinkMetrics extends Pick<Metrics, 'publishes' | 'redisNotMaster' | 'missedRead'> {
  readonly busConnected: Pick<Metrics['busConnected'], 'set'>;
  readonly busOutages: Pick<Metrics['busOutages'], 'inc'>;
}
