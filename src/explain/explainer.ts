import type { EventPlace, EventTrace } from '../events/trace.ts';
import { consumptionOf, explained, type ExplainedSubscription, type Explanation } from './explanation.ts';
import { Watch, type WatchedConnection } from './watch.ts';

interface ExplainerOptions {
  readonly trace: EventTrace;
  readonly connectionOf: (id: string) => WatchedConnection | undefined;
  /** All that the connection has joined. */
  readonly subscriptionsOf: (connection: WatchedConnection) => Iterable<ExplainedSubscription>;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Events are recorded for so long after the last question about a connection. */
const WATCH_MS = 600_000;

/** Connections that are watched at the same time; the one that was asked about least recently gives way. */
const MAX_WATCHES = 10;

/**
 * Says why a connection did, or did not, get an event. Events are recorded while somebody asks: the first question about a
 * connection begins a watch, and each later one prolongs it. Nothing is recorded otherwise.
 */
export class Explainer {
  readonly #options: ExplainerOptions;
  /** With what ends the listening, by connection; undefined is that of other processes. */
  readonly #watches = new Map<
    WatchedConnection | undefined,
    { readonly watch: Watch; readonly end: () => void }
  >();

  constructor(options: ExplainerOptions) {
    this.#options = options;
  }

  /**
   * @param id of a connection; undefined: one of another process, of whose events this one may be the consumer
   * @returns undefined if there is no such connection
   */
  explain(id: string | undefined, event: EventPlace): Explanation | undefined {
    const { connectionOf, subscriptionsOf } = this.#options;
    const connection = id === undefined ? undefined : connectionOf(id);
    if (id !== undefined && connection === undefined) return undefined;
    const watch = this.#watch(connection);
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

  #watch(connection: WatchedConnection | undefined): Watch {
    const { trace, now } = this.#options;
    this.#endOld();
    const known = this.#watches.get(connection);
    if (known !== undefined) {
      known.watch.until = now() + WATCH_MS;
      this.#watches.delete(connection);
      this.#watches.set(connection, known);
      return known.watch;
    }
    if (this.#watches.size >= MAX_WATCHES) {
      const [[oldest] = []] = this.#watches;
      this.#end(oldest);
    }
    const watch = new Watch(connection, now() + WATCH_MS, now);
    const end = trace.listen((step) => {
      if (watch.until < now()) this.#end(connection);
      else watch.take(step);
    });
    this.#watches.set(connection, { watch, end });
    return watch;
  }

  #endOld(): void {
    const { now } = this.#options;
    for (const [connection, { watch }] of this.#watches) if (watch.until < now()) this.#end(connection);
  }

  #end(connection: WatchedConnection | undefined): void {
    this.#watches.get(connection)?.end();
    this.#watches.delete(connection);
  }
}
