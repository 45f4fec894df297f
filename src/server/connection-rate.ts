/** The rate of a pod, or of one address. */
export interface Paced {
  /** When a full second's number may come at once again, ms. */
  fullAt: number;
}

/**
 * Limits how many come in a second: after a second without any, a full second's number may come at once, and then one for
 * each share of a second. (A token bucket that stores only the time at which it will be full.)
 */
export class ConnectionRate {
  /** For messages: a process's share of its pod's limit, rounded, as it may not be a whole number. */
  readonly perSecond: number;
  readonly #stepMs: number;

  /** @param perSecond 0: no limit */
  constructor(perSecond: number) {
    this.perSecond = Math.round(perSecond * 100) / 100;
    this.#stepMs = perSecond === 0 ? 0 : 1_000 / perSecond;
  }

  admits({ fullAt }: Paced, now: number): boolean {
    return this.#stepMs === 0 || Math.max(fullAt, now) + this.#stepMs <= now + Math.max(1_000, this.#stepMs);
  }

  /** Counts one that has come. */
  spend(paced: Paced, now: number): void {
    paced.fullAt = Math.max(paced.fullAt, now) + this.#stepMs;
  }
}
