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
  /** Cancels the timer that ends the watch. */
  keep: () => void;
}

/** The time from the last question to the end of a watch. */
const WATCH_MS = 600_000;

/** The most open watches; the watch that was asked for longest ago is ended for one more. */
const MAX_WATCHES = 10;

/** The open watches: each is of one topic, for one connection or for the events that this process consumes. */
export class Watches {
  readonly #options: WatchesOptions;
  /** The watch asked for longest ago comes first. */
  readonly #open: Open[] = [];

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /**
   * Opens a watch, or prolongs the open one.
   *
   * @param connection undefined: the watch records only what becomes of events before they are published
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
