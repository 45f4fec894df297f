import type { EventPlace, EventTrace } from '../events/trace.ts';
import type { Timers } from '../support/clock.ts';
import { consumptionOf, explained, type ExplainedSubscription, type Explanation } from './explanation.ts';
import type { WatchedConnection } from './watch.ts';
import { Watches } from './watches.ts';

interface ExplainerOptions {
  readonly trace: Pick<EventTrace, 'listen'>;
  readonly connectionOf: (id: string) => WatchedConnection | undefined;
  /** All that the connection has joined. */
  readonly subscriptionsOf: (connection: WatchedConnection) => Iterable<ExplainedSubscription>;
  readonly timers: Timers;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Says why a connection did, or did not, get an event. The first question about a connection and a topic begins a watch,
 * and each later one prolongs it. Nothing is recorded otherwise.
 */
export class Explainer {
  readonly #options: ExplainerOptions;
  readonly #watches: Watches;

  constructor(options: ExplainerOptions) {
    this.#options = options;
    this.#watches = new Watches(options);
  }

  /**
   * @param id of a connection; undefined: one of another process, of whose events this one may be the consumer
   * @returns undefined if there is no such connection
   */
  explain(id: string | undefined, event: EventPlace): Explanation | undefined {
    const { connectionOf, subscriptionsOf } = this.#options;
    const connection = id === undefined ? undefined : connectionOf(id);
    if (id !== undefined && connection === undefined) return undefined;
    const watch = this.#watches.of(connection, event.topic);
    const record = watch.find(event);
    return {
      connection: id ?? null,
      event,
      recording: {
        since: new Date(watch.since).toISOString(),
        until: new Date(watch.until).toISOString(),
        events: watch.size,
      },
      consumed: consumptionOf(record),
      subscriptions:
        connection === undefined
          ? []
          : [...subscriptionsOf(connection)].map((one) => explained(one, event, record, watch)),
    };
  }
}
