import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * Which web pages may talk to the gateway. Browsers let any page open a WebSocket to any host and only say, in
 * `Origin`, which page it is; without this check every page that a user opens could read what that user may see.
 */
export class OriginCheck {
  readonly #listed: ReadonlySet<string>;
  readonly #any: boolean;

  /** @param origins `ORIGINS`: as browsers send them, or `*`; empty: only pages of the gateway's own host */
  constructor(origins: readonly string[]) {
    this.#listed = new Set(origins);
    this.#any = this.#listed.has('*');
  }

  allows({ origin, host }: IncomingHttpHeaders): boolean {
    if (origin === undefined) return true; // Not a browser, which could send any origin anyhow.
    if (this.#any || this.#listed.has(origin)) return true;
    return this.#listed.size === 0 && isSameHost(origin, host);
  }

  /** @throws HttpError 403 if the page that sent this may not */
  demand(headers: IncomingHttpHeaders): void {
    if (!this.allows(headers)) throw new HttpError(403, this.refusal(headers));
  }

  refusal({ origin }: IncomingHttpHeaders): string {
    const expected = this.#listed.size === 0 ? "the gateway's own host" : 'one of those listed in ORIGINS';
    return `expected an Origin that is ${expected}, got ${JSON.stringify(origin)}`;
  }

  /** Headers that let an allowed page of another host read the response; for all others the browser keeps it back. */
  corsHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    const { origin } = headers;
    if (origin === undefined || !this.allows(headers)) return { vary: 'Origin' };
    return { vary: 'Origin', 'access-control-allow-origin': origin };
  }
}

/**
 * Host and port only: behind a proxy that ends TLS the gateway cannot know the page's scheme, which serves here to
 * tell what port is meant where none is written.
 */
function isSameHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const own = `${page.protocol}//${host}`;
  return page.host !== '' && URL.canParse(own) && new URL(own).host === page.host;
}
