import { createLocalJWKSet, errors, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../support/clock.ts';
import { readBody } from '../support/read-body.ts';
import { KeysUnavailable, type Keys } from './keys.ts';

interface JwksOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each fetch that fails. */
  readonly onFailure: () => void;
}

/** A key that its issuer has removed stays in use up to this time. */
const FETCH_AGAIN_MS = 300_000;

/** The interval of fetches while the last one has failed. */
const RETRY_MS = 2_000;

/** Minimum interval of fetches that tokens with unknown keys cause: any client can send a token like that. */
const COOLDOWN_MS = 10_000;

const TIMEOUT_MS = 5_000;

const MAX_BYTES = 1_048_576;

const NOT_FETCHED = 'the keys of AUTH_JWKS_URL have not been fetched yet';

type KeySet = ReturnType<typeof createLocalJWKSet>;

/**
 * The keys of a JWKS URL, fetched again and again, and at once when a token names a key that is not among them. While
 * the server is out of reach, the keys that were fetched last stay in use.
 */
export class Jwks implements Keys {
  readonly #options: JwksOptions;
  readonly #stopping = new AbortController();
  #keys: KeySet | undefined;
  #fetching: Promise<boolean> | undefined;
  #fetchedAt = -Infinity;
  #hasFailed = false;

  constructor(options: JwksOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#keepFetching();
  }

  stop(): void {
    this.#stopping.abort();
  }

  notReady(): string | undefined {
    return this.#keys === undefined ? NOT_FETCHED : undefined;
  }

  async keyOf(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeySet> {
    const keys = this.#keys;
    if (keys === undefined) return (await this.#fetched(RETRY_MS))(header, token);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // While the last fetch has failed, the key may be a new one: the gateway can't tell.
      if (!this.#hasFailed && !this.#mayFetch(COOLDOWN_MS)) throw error;
      return (await this.#fetched(COOLDOWN_MS))(header, token);
    }
  }

  /** @throws KeysUnavailable if the keys can't be fetched */
  async #fetched(cooldownMs: number): Promise<KeySet> {
    if (!this.#mayFetch(cooldownMs) || !(await this.#fetch()) || this.#keys === undefined)
      throw new KeysUnavailable();
    return this.#keys;
  }

  #mayFetch(cooldownMs: number): boolean {
    return this.#fetching !== undefined || this.#options.clock.now() - this.#fetchedAt >= cooldownMs;
  }

  async #keepFetching(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const isFetched = await this.#fetch();
      await this.#options.clock.sleep(isFetched ? FETCH_AGAIN_MS : RETRY_MS, signal);
    }
  }

  /** Fetches the keys once for all callers that wait at the same time. */
  #fetch(): Promise<boolean> {
    this.#fetching ??= this.#fetchOnce().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetchOnce(): Promise<boolean> {
    const { url, clock, log, onFailure } = this.#options;
    this.#fetchedAt = clock.now();
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      this.#keys = createLocalJWKSet(await fetchJson(url, signal));
      if (this.#hasFailed) log.info('the keys of AUTH_JWKS_URL have been fetched again');
      this.#hasFailed = false;
      return true;
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return false;
      onFailure();
      // One line for each outage, not for each attempt.
      if (!this.#hasFailed)
        log.warn({ reason: messageOf(thrown) }, 'the keys of AUTH_JWKS_URL can not be fetched');
      this.#hasFailed = true;
      return false;
    }
  }
}

/** @throws if the response has another status than 200, no body, more than MAX_BYTES, or no JSON */
async function fetchJson(url: string, signal: AbortSignal): Promise<Parameters<typeof createLocalJWKSet>[0]> {
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`expected status 200 and a body, got ${response.status}`);
  }
  return JSON.parse(await readBody(response, MAX_BYTES)) as Parameters<typeof createLocalJWKSet>[0];
}
