import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import {
  afterSample,
  CALM_STATE,
  collects,
  fullest,
  hasGrown,
  pauses,
  SAMPLE_MS,
  sheds,
  SOURCES,
  type Level,
  type PressureState,
  type Sample,
  type Thresholds,
} from './policy.ts';
import type { PressureLevel } from './pressure-level.ts';

interface MonitorOptions {
  readonly thresholds: Thresholds;
  /** Measures all sources. */
  readonly sample: () => Sample;
  /** Released memory is known to be free only once it has been collected. */
  readonly collectGarbage: () => Promise<void>;
  /** Closes some of the sockets for which most bytes wait. @returns how many */
  readonly shed: () => number;
  readonly level: PressureLevel;
  readonly metrics: Pick<Metrics, 'pressure' | 'pressureLevel'>;
  readonly log: Log;
}

/** The answer of `/debug/pressure`. */
interface PressureInspection {
  readonly level: Level;
  readonly pauses: boolean;
  readonly used: Sample;
  readonly thresholds: Thresholds;
}

const NONE: Sample = { heap: 0, memory: 0, resident: 0, waiting: 0, loop: 0 };

/** Samples between collections under pressure: doubled each time, as they cost, but `first` once they may help. */
const COLLECT_AFTER = { first: 4, longest: 128 };

const MEANING: Readonly<Record<Level, string>> = {
  0: 'no pressure: all is as usual',
  1: 'pressure: new connections are refused, and the pod is not ready',
  2: 'pressure: nothing is consumed, and new connections are refused',
  3: 'pressure: sockets are shed, nothing is consumed, and new connections are refused',
};

/** Takes samples, and makes the pod act as the policy says. */
export class PressureMonitor {
  readonly #options: MonitorOptions;
  #state = CALM_STATE;
  #used = NONE;
  /** The sample after the last collection. */
  #collected = NONE;
  #timer: NodeJS.Timeout | undefined;
  /** Samples. */
  #sinceCollection = 0;
  #collectAfter = COLLECT_AFTER.first;

  constructor(options: MonitorOptions) {
    this.#options = options;
    const { pressure, pressureLevel } = options.metrics;
    pressureLevel.set(0);
    for (const source of SOURCES) pressure.set({ source }, 0);
  }

  start(): void {
    this.#timer = setInterval(() => this.#takeSample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  inspect(): PressureInspection {
    const { thresholds } = this.#options;
    return { level: this.#state.level, pauses: pauses(this.#state), used: this.#used, thresholds };
  }

  #takeSample(): void {
    const { sample, thresholds, level, metrics } = this.#options;
    const before = this.#state;
    this.#used = sample();
    this.#state = afterSample(before, this.#used, thresholds);
    level.set(this.#state.level, pauses(this.#state));
    for (const source of SOURCES) metrics.pressure.set({ source }, this.#used[source]);
    metrics.pressureLevel.set(this.#state.level);
    this.#report(before);
    this.#sinceCollection += 1;
    if (this.#state.level > before.level || hasGrown(this.#state, this.#used, this.#collected)) {
      this.#collectAfter = COLLECT_AFTER.first;
    }
    const isDue = this.#state.level > 0 && this.#sinceCollection >= this.#collectAfter;
    if (isDue && collects(this.#state, this.#used, thresholds)) void this.#relieve();
  }

  async #relieve(): Promise<void> {
    this.#sinceCollection = -Infinity;
    let count = 0;
    try {
      count = await this.#collectAndShed();
    } catch (error) {
      this.#options.log.error(
        { err: error },
        'the pod failed to relieve the pressure, and tries again later',
      );
    } finally {
      this.#collected = this.#used;
      this.#collectAfter =
        count > 0 ? COLLECT_AFTER.first : Math.min(2 * this.#collectAfter, COLLECT_AFTER.longest);
      this.#sinceCollection = 0;
    }
  }

  /**
   * Sheds sockets only if the memory is full without garbage, and more sockets only once the ones before are gone.
   *
   * @returns how many were shed
   */
  async #collectAndShed(): Promise<number> {
    const { collectGarbage, shed, thresholds, log } = this.#options;
    await collectGarbage();
    this.#takeSample();
    const count = sheds(this.#state, this.#used, thresholds) ? shed() : 0;
    if (count > 0) log.info({ count }, 'sockets with most bytes waiting were shed');
    return count;
  }

  #report(before: PressureState): void {
    const { log } = this.#options;
    const { level } = this.#state;
    if (level > before.level) log.warn(this.#fields(), MEANING[level]);
    else if (level < before.level) log.info(this.#fields(), MEANING[level]);
    else if (pauses(before) && !pauses(this.#state)) {
      log.warn(this.#fields(), 'the pause has not relieved the pressure: events are consumed again');
    }
  }

  #fields(): object {
    const used = Object.entries(this.#used).map(([source, share]) => [source, Math.round(share * 100) / 100]);
    const { level } = this.#state;
    return { pressure: level, by: fullest(this.#used, level), ...Object.fromEntries(used) };
  }
}
