import { jsonAt, type Json } from '../lazy/reads.ts';

/** Viewers whose connections are to be closed, and whose tokens that were issued before are to be refused. */
export interface Revocation {
  /** The path of a property of the viewer: names separated by dots. */
  readonly path: string;
  /** The value as text: the number 42 and the string "42" are the same. */
  readonly value: string;
  /** ms since 1970 */
  readonly at: number;
}

/** @param value a message of the bus, or a body, which may hold anything */
export function isRevocation(value: unknown): value is Revocation {
  const { path, value: revoked, at } = (value ?? {}) as Partial<Record<keyof Revocation, unknown>>;
  return typeof path === 'string' && typeof revoked === 'string' && Number.isSafeInteger(at);
}

export function isOfViewer({ path, value }: Revocation, viewer: Json): boolean {
  return textAt(viewer, path) === value;
}

/** @returns undefined unless the value is text, a number or a boolean */
function textAt(viewer: Json, path: string): string | undefined {
  const value = jsonAt(viewer, path.split('.'));
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

export const MAX_REVOCATIONS = 10_000;

/**
 * How far the clock of a pod that reports a revocation may be ahead, in ms. A revocation of a far later time would
 * refuse all tokens until then, and be remembered for as long.
 */
const MAX_AHEAD_MS = 5 * 60_000;

interface RevocationsOptions {
  readonly keepMs: number;
  /** How far the clocks of tokens' issuers may be ahead, in ms. */
  readonly toleranceMs: number;
  readonly now: () => number;
}

/** The revocations that are remembered. */
export class Revocations {
  readonly #options: RevocationsOptions;
  /** The time of the last revocation, by path and by value; in any order, as callers choose the times. */
  readonly #byPath = new Map<string, Map<string, number>>();
  #size = 0;
  /** No revocation has an earlier time: until this time is old, there is nothing to forget, and no need to look. */
  #earliest = Infinity;

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /**
   * Whether there is no room for this revocation: each takes memory for as long as it is remembered. A later revocation
   * of the same viewers takes the place of the one before.
   */
  isFullFor({ path, value }: Revocation): boolean {
    this.#forgetOld();
    return this.#size >= MAX_REVOCATIONS && this.#byPath.get(path)?.has(value) !== true;
  }

  /** Whether the revocation's time is further ahead than clocks differ: `add` then refuses the revocation. */
  isAhead({ at }: Revocation): boolean {
    return at > this.#options.now() + MAX_AHEAD_MS;
  }

  /** @returns false if the revocation was known, is older than revocations are remembered, or is ahead */
  add(revocation: Revocation): boolean {
    const { path, value, at } = revocation;
    this.#forgetOld();
    if (at <= this.#options.now() - this.#options.keepMs || this.isAhead(revocation)) return false;
    const values = this.#byPath.get(path) ?? new Map<string, number>();
    const known = values.get(value);
    if (known !== undefined && known >= at) return false;
    values.set(value, at);
    this.#earliest = Math.min(this.#earliest, at);
    this.#byPath.set(path, values);
    if (known === undefined) this.#size += 1;
    return true;
  }

  /** Returns all revocations that are remembered. */
  list(): readonly Revocation[] {
    this.#forgetOld();
    return [...this.#byPath].flatMap(([path, values]) =>
      Array.from(values, ([value, at]) => ({ path, value, at })),
    );
  }

  /**
   * Whether a viewer is to be refused.
   *
   * @param issuedAt of the viewer's token, in seconds; undefined: the token does not tell
   */
  covers(viewer: Json, issuedAt: number | undefined): boolean {
    for (const [path, values] of this.#byPath) {
      const text = textAt(viewer, path);
      const at = text === undefined ? undefined : values.get(text);
      if (at !== undefined && this.precedes(issuedAt, at)) return true;
    }
    return false;
  }

  /** Whether a token may have been issued before a revocation, as far as clocks tell. */
  precedes(issuedAt: number | undefined, revokedAt: number): boolean {
    const { keepMs, toleranceMs, now } = this.#options;
    if (revokedAt <= now() - keepMs) return false;
    return issuedAt === undefined || issuedAt * 1000 <= revokedAt + toleranceMs;
  }

  #forgetOld(): void {
    const oldest = this.#options.now() - this.#options.keepMs;
    if (this.#earliest > oldest) return;
    this.#earliest = Infinity;
    for (const [path, values] of this.#byPath) {
      for (const [value, at] of values) {
        if (at > oldest) {
          this.#earliest = Math.min(this.#earliest, at);
          continue;
        }
        values.delete(value);
        this.#size -= 1;
      }
      if (values.size === 0) this.#byPath.delete(path);
    }
  }
}
