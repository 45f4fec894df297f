import type { Metrics } from '../../../metrics.ts';
import type { LinkMetrics } from '../link-metrics.ts';

type Connection = 'publishing' | 'listening';

/** Adds up what the links of a cluster count: a bus is connected if all of them are. */
export class LinkTotals {
  readonly #metrics: Metrics;
  readonly #disconnected: Record<Connection, Set<object>> = {
    publishing: new Set(),
    listening: new Set(),
  };
  #isCounting = false;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** @returns the metrics of one link */
  ofLink(): LinkMetrics {
    const { publishes, redisNotMaster, missedRead } = this.#metrics;
    const link = {};
    return {
      publishes,
      redisNotMaster,
      missedRead,
      busConnected: {
        set: (labels: { connection: Connection }, value: number) => this.#set(link, labels.connection, value),
      } as LinkMetrics['busConnected'],
      busOutages: { inc: () => this.#countOutage() },
    };
  }

  #set(link: object, connection: Connection, value: number): void {
    const disconnected = this.#disconnected[connection];
    if (value === 1) disconnected.delete(link);
    else disconnected.add(link);
    this.#metrics.busConnected.set({ connection }, disconnected.size === 0 ? 1 : 0);
  }

  /** Counts a lost node once: all links to it are lost in the same turn of the event loop. */
  #countOutage(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => (this.#isCounting = false));
    this.#metrics.busOutages.inc();
  }
}
