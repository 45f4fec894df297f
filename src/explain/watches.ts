import type { EventTrace } from '../events/trace.ts';
import type { Timers } from '../support/clock.ts';
import { Watch, type WatchedConnection } from './watch.ts';

interface WatchesOptions {
  readonly trace: Pick<EventTrace, 'listen'>;
  readonly timers: Timers;
  /** ms since 1970 */
  readonly now: () => number;
}

interface Open {
  readonly connection: WatchedConnection | undefined;
  readonly watch: Watch;
  /** Stops the listening. */
  readonly stop: () => void;
  /** Prevents its end. */
  keep: () => void;
}

/** A watch ends so long after it was last asked for. */
const WATCH_MS = 600_000;

/** Open at the same time; the one that was asked for longest ago gives way. */
const MAX_WATCHES = 10;

/** The watches that are open: each is of one topic, for one connection or for what this process consumes. */
export class Watches {
  readonly #options: WatchesOptions;
  /** The one asked for longest ago first. */
  readonly #open: Open[] = [];

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /**
   * Opens a watch, or prolongs the one that there is.
   *
   * @param connection undefined: only what becomes of events before they are published
   */
  of(connection: WatchedConnection | undefined, topic: string): Watch {
    const { now, timers } = this.#options;
    const index = this.#open.findIndex((one) => one.connection === connection && one.watch.topic === topic);
    const [known] = index === -1 ? [] : this.#open.splice(index, 1);
    known?.keep();
    if (known === undefined && this.#open.length === MAX_WATCHES) this.#end(this.#open[0]);
    const open = known ?? this.#begin(connection, topic);
    open.watch.until = now() + WATCH_MS;
    open.keep = timers.after(WATCH_MS, () => this.#end(open));
    this.#open.push(open);
    return open.watch;
  }

  #begin(connection: WatchedConnection | undefined, topic: string): Open {
    const { trace, now } = this.#options;
    const watch = new Watch(connection, topic, now);
    return { connection, watch, stop: trace.listen(watch.take), keep: () => undefined };
  }

  #end(open: Open | undefined): void {
    if (open === undefined) return;
    open.keep();
    open.stop();
    this.#open.splice(this.#open.indexOf(open), 1);
  }
}
