import type { IncomingHttpHeaders } from 'node:http';
import type { HttpRefusal } from './admission.ts';
import { HttpError } from './http-error.ts';
import type { OriginRefusals } from './origin-refusals.ts';

/**
 * Decides which web pages may use the gateway. Browsers let a page open a WebSocket to any host, and only send the
 * page's origin in `Origin`. Without this check, every page that a user opens could read what that user may read.
 */
export class OriginCheck {
  readonly #listed: ReadonlySet<string>;
  readonly #any: boolean;
  readonly #refusals: Pick<OriginRefusals, 'add'> | undefined;

  /**
   * @param origins the setting `ORIGINS`: origins as browsers send them, or `*`; empty: pages of the gateway's own host
   * @param refusals gets each refused request
   */
  constructor(origins: readonly string[], refusals?: Pick<OriginRefusals, 'add'>) {
    this.#refusals = refusals;
    this.#listed = new Set(origins);
    this.#any = this.#listed.has('*');
  }

  allows({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    if (this.#any) return true;
    if (origin === undefined) return this.#allowsWithoutOrigin(site, host);
    if (this.#listed.has(origin)) return true;
    return this.#listed.size === 0 && isSameHost(origin, host);
  }

  /** Whether `ORIGINS` lists the origin by name. */
  lists(origin: string): boolean {
    return this.#listed.has(origin);
  }

  /**
   * A program could send any origin, so it is useless to refuse one that sends none. A browser sends no origin with a GET
   * by a page of the same host, or by an element (`<img>`) of a page of any host; `Sec-Fetch-Site` tells which.
   */
  #allowsWithoutOrigin(site: unknown, host: string | undefined): boolean {
    if (site === undefined || site === 'none') return true;
    if (site !== 'same-origin') return false;
    return this.#listed.size === 0 || [...this.#listed].some((origin) => isSameHost(origin, host));
  }

  /** @throws HttpError 403 if the page that sent the request may not use the gateway */
  demand(headers: IncomingHttpHeaders): void {
    const refusal = this.refusal(headers);
    if (refusal !== undefined) throw new HttpError(refusal.status, refusal.message);
  }

  /** @returns why the page that sent the request may not use the gateway; undefined if it may */
  refusal(headers: IncomingHttpHeaders): HttpRefusal | undefined {
    if (this.allows(headers)) return undefined;
    const { origin } = headers;
    this.#refusals?.add(origin);
    const expected = this.#listed.size === 0 ? "the gateway's own host" : 'one of those listed in ORIGINS';
    const message = `expected an Origin that is ${expected}, got ${origin === undefined ? 'none' : JSON.stringify(origin)}`;
    return { status: 403, message, code: 'ORIGIN_NOT_ALLOWED' };
  }
}

/**
 * Compares host and port only: behind a proxy that terminates TLS, the gateway does not know the scheme of its own
 * URL. So the page's scheme is used, for the default port of a Host header without one.
 */
function isSameHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const own = `${page.protocol}//${host}`;
  return page.host !== '' && URL.canParse(own) && new URL(own).host === page.host;
}
