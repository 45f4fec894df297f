import { randomBytes } from 'node:crypto';

/** A trace (W3C Trace Context) of calls without a recorded span. Each call gets its own span id. */
export class RandomTrace {
  readonly #id = randomBytes(16).toString('hex');

  /** @param flags the last part: `01` is sampled @returns the value of the traceparent header for the next call */
  next(flags: string): string {
    return `00-${this.#id}-${randomBytes(8).toString('hex')}-${flags}`;
  }
}
