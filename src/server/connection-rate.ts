/** The rate of a pod, or of one address. */
export interface Paced {
  /** When as many may come at once again as in a second, ms. */
  fullAt: number;
}

/**
 * Bounds how many come in a second: as many at once after a second without any, and then one each time its share of a
 * second has passed. (A token bucket, of which only the time is kept at which it will be full.)
 */
export class ConnectionRate {
  /** For messages: a process has a share of what its pod may take, which may be no whole number. */
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

  /** One has come. */
  spend(paced: Paced, now: number): void {
    paced.fullAt = Math.max(paced.fullAt, now) + this.#stepMs;
  }
}
