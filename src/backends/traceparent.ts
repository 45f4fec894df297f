import { randomBytes } from 'node:crypto';

/** `version-traceid-parentid-flags`; all zeros are no ids. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-|$)/;

/**
 * The trace that one execution's calls belong to, as W3C Trace Context has it. The gateway records no spans itself: each
 * call gets a span id of its own, so that logs of back ends can be told apart and put together.
 */
export class Trace {
  readonly #id: string;
  readonly #flags: string;

  /** @param parent the traceparent to go on from; without one (or with a broken one) a sampled trace begins here */
  constructor(parent: string | undefined) {
    const [, id, flags] = (parent === undefined ? undefined : TRACEPARENT.exec(parent)) ?? [];
    this.#id = id ?? randomBytes(16).toString('hex');
    this.#flags = flags ?? '01';
  }

  /** The header of the next call. */
  next(): string {
    return `00-${this.#id}-${randomBytes(8).toString('hex')}-${this.#flags}`;
  }
}
