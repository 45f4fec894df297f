import { LRUCache } from 'lru-cache';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { LogThrottle } from '../support/log-throttle.ts';

interface OriginRefusalsOptions {
  readonly metrics: Pick<Metrics, 'refused'>;
  readonly log: Log;
  /** ms, of a monotonic clock. */
  readonly now: () => number;
}

const PERIOD_MS = 60_000;

/** Most lines in a period, for all origins together: a client can send any number of made-up origins. */
const LINES = 20;

/** Origins that are remembered: those that were logged in the last two periods. */
const ORIGINS = 2 * LINES;

/** Most characters of an origin that are logged and kept. */
const MAX_LENGTH = 200;

/** Counts the requests and WebSockets that are refused for their origin, and logs each origin at most once a minute. */
export class OriginRefusals {
  readonly #options: OriginRefusalsOptions;
  readonly #all: LogThrottle;
  readonly #each = new LRUCache<string, LogThrottle>({ max: ORIGINS });
  /** Refusals since the last line. */
  #suppressed = 0;

  constructor(options: OriginRefusalsOptions) {
    this.#options = options;
    this.#all = this.#throttle(LINES);
  }

  /** @param origin as the client has sent it */
  add(origin: string | undefined): void {
    const { metrics, log } = this.#options;
    metrics.refused('origin');
    const logged = origin?.slice(0, MAX_LENGTH) ?? 'none';
    if (!this.#admits(logged)) {
      this.#suppressed += 1;
      return;
    }
    log.warn(
      { origin: logged, suppressed: this.#suppressed },
      'a page was refused for its origin: only those in ORIGINS may connect, or without it pages of this host',
    );
    this.#suppressed = 0;
  }

  /** An origin is remembered only if it is logged, so made-up ones push no other out before its minute is over. */
  #admits(origin: string): boolean {
    const known = this.#each.get(origin);
    if (known !== undefined) return known.admit() !== undefined && this.#all.admit() !== undefined;
    if (this.#all.admit() === undefined) return false;
    const throttle = this.#throttle(1);
    this.#each.set(origin, throttle);
    return throttle.admit() !== undefined;
  }

  #throttle(lines: number): LogThrottle {
    return new LogThrottle({ lines, periodMs: PERIOD_MS, now: this.#options.now });
  }
}
