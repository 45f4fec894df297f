import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { OriginCheck } from './origin-check.ts';

/** The headers that clients of GraphQL send, for a preflight that names none. */
const USUAL_HEADERS = 'authorization, content-type';

/** Response headers that a page may read in addition to those that every page may read. */
const EXPOSED_HEADERS = 'retry-after, www-authenticate';

/** Seconds for which a browser need not ask again: two hours, Chromium's maximum. */
const MAX_AGE = '7200';

/**
 * Lets a page of any origin read a refusal, which has no data. If the browser has sent cookies of the gateway, no page may
 * read it (`*` covers only requests without credentials).
 */
const READABLE_BY_ALL = { 'access-control-allow-origin': '*' };

/**
 * Headers that let pages of other hosts read responses (CORS). They only tell browsers the decision of the check of
 * origins, which enforces it by itself. A library would need the same decisions a second time.
 */
export class Cors {
  readonly #check: Pick<OriginCheck, 'allows' | 'lists'>;

  constructor(check: Pick<OriginCheck, 'allows' | 'lists'>) {
    this.#check = check;
  }

  /** The headers of the response to a request, even if the request is refused. */
  headersFor(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    return { ...this.#origin(headers), vary: 'Origin', 'access-control-expose-headers': EXPOSED_HEADERS };
  }

  /** The headers of the response to a preflight request. */
  preflightFor(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    return {
      ...this.#origin(headers),
      vary: 'Origin, Access-Control-Request-Headers',
      'access-control-allow-methods': 'GET, POST',
      // Allows any header: tracing and proxies add their own, and the request itself is checked by its origin.
      'access-control-allow-headers': headers['access-control-request-headers'] ?? USUAL_HEADERS,
      'access-control-max-age': this.#check.allows(headers) ? MAX_AGE : '0',
    };
  }

  #origin(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    const { origin } = headers;
    // A page that is not allowed may still send its request: otherwise it could not read why it is refused.
    if (!this.#check.allows(headers)) return READABLE_BY_ALL;
    if (origin === undefined) return {};
    const allowed = { 'access-control-allow-origin': origin };
    // Only if listed by name: with `*`, any page could read data that its visitor's cookies give access to.
    return this.#check.lists(origin) ? { ...allowed, 'access-control-allow-credentials': 'true' } : allowed;
  }
}
