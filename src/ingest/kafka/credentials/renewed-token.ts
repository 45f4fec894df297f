import { messageOf } from '../../../errors.ts';
import type { Log } from '../../../log.ts';

export interface IssuedToken {
  readonly value: string;
  /** ms since 1970 */
  readonly expiresAt: number;
}

interface RenewedTokenOptions {
  readonly issue: () => Promise<IssuedToken>;
  /** ms since 1970 */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * A token is renewed when a fifth of its life is left. Brokers may end a connection when its token expires. Drivers
 * authenticate again some seconds before, and need a new token by then.
 */
const LEFT = 1 / 5;
const LEAST_LEFT_MS = 30_000;

/** A token is not renewed before half of its life is over. */
const MOST_LEFT = 1 / 2;

/** The token of an issuer, shared by all connections. */
export class RenewedToken {
  readonly #options: RenewedTokenOptions;
  #current: IssuedToken | undefined;
  /** ms since 1970 */
  #renewAt = 0;
  #renewing: Promise<string> | undefined;

  constructor(options: RenewedTokenOptions) {
    this.#options = options;
  }

  /** Returns a valid token. All connections that wait for one share one request to the issuer. */
  get(): Promise<string> {
    const current = this.#current;
    if (current !== undefined && this.#options.now() < this.#renewAt) return Promise.resolve(current.value);
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(): Promise<string> {
    const { issue, now, log } = this.#options;
    const startedAt = now();
    try {
      const token = await issue();
      const life = token.expiresAt - startedAt;
      this.#current = token;
      this.#renewAt = token.expiresAt - Math.min(Math.max(life * LEFT, LEAST_LEFT_MS), life * MOST_LEFT);
      return token.value;
    } catch (thrown) {
      const current = this.#current;
      if (current === undefined || current.expiresAt <= now()) throw thrown;
      log.warn(
        { reason: messageOf(thrown) },
        'the token for Kafka can not be renewed; the one before is still valid',
      );
      return current.value;
    }
  }
}
