import { randomBytes } from 'node:crypto';

/** `version-traceid-parentid-flags`; ids of zeros only are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-|$)/;

/**
 * The trace (W3C Trace Context) that the calls of one execution belong to. The gateway itself records no spans. Each
 * call gets its own span id, by which the logs of back ends can be correlated.
 */
export class Trace {
  readonly #id: string;
  readonly #flags: string;

  /** @param parent the traceparent to continue; if it is undefined or malformed, a new sampled trace begins */
  constructor(parent: string | undefined) {
    const [, id, flags] = (parent === undefined ? undefined : TRACEPARENT.exec(parent)) ?? [];
    this.#id = id ?? randomBytes(16).toString('hex');
    this.#flags = flags ?? '01';
  }

  /** The value of the traceparent header for the next call. */
  next(): string {
    return `00-${this.#id}-${randomBytes(8).toString('hex')}-${this.#flags}`;
  }
}
