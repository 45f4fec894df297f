import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { OriginCheck } from './origin-check.ts';

/** The headers that clients of GraphQL send, for a preflight that names none. */
const USUAL_HEADERS = 'authorization, content-type';

/** What a page may read of a response beyond what every page may. */
const EXPOSED_HEADERS = 'retry-after, www-authenticate';

/** Seconds for which a browser need not ask again: no browser takes more than these two hours of Chromium's. */
const MAX_AGE = '7200';

/**
 * Lets a page of any origin show a refusal, which has no data. A browser that has sent cookies of the gateway shows
 * it to none (`*` stands for requests without credentials).
 */
const READABLE_BY_ALL = { 'access-control-allow-origin': '*' };

/**
 * Headers that let pages of other hosts read responses (CORS). They only tell browsers what the check of origins has decided
 * and enforces by itself, for which a library would have to be given the same decisions once more.
 */
export class Cors {
  readonly #check: Pick<OriginCheck, 'allows' | 'lists'>;

  constructor(check: Pick<OriginCheck, 'allows' | 'lists'>) {
    this.#check = check;
  }

  /** The headers of the response to a request, also where that is refused. */
  headersFor(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    return { ...this.#origin(headers), vary: 'Origin', 'access-control-expose-headers': EXPOSED_HEADERS };
  }

  /** The headers of the response to a preflight request. */
  preflightFor(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    return {
      ...this.#origin(headers),
      vary: 'Origin, Access-Control-Request-Headers',
      'access-control-allow-methods': 'GET, POST',
      // Any: tracing and proxies in front have headers of their own, and the request itself is checked by its origin.
      'access-control-allow-headers': headers['access-control-request-headers'] ?? USUAL_HEADERS,
      'access-control-max-age': this.#check.allows(headers) ? MAX_AGE : '0',
    };
  }

  #origin(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    const { origin } = headers;
    // A page that is not allowed may send its request too, or it could not read why that is refused.
    if (!this.#check.allows(headers)) return READABLE_BY_ALL;
    if (origin === undefined) return {};
    const allowed = { 'access-control-allow-origin': origin };
    // With `*` a page of any origin would read what the cookies of its visitor open.
    return this.#check.lists(origin) ? { ...allowed, 'access-control-allow-credentials': 'true' } : allowed;
  }
}
