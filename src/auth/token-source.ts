import type { RequestHead } from '../graph/api/context.ts';
import { TokenRefusal } from './refusal.ts';

/** A JSON Web Token: three parts of base64url. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Finds the token that a client has sent: in the payload of `connection_init`, as `token` or as `authorization`; in the
 * header `Authorization`, with `Bearer`; or in a cookie. The first token counts.
 *
 * @param cookie name of the cookie; undefined: cookies do not count
 * @returns undefined if there is none
 */
export function findToken(
  params: Readonly<Record<string, unknown>>,
  { headers }: Pick<RequestHead, 'headers'>,
  cookie: string | undefined,
): string | TokenRefusal | undefined {
  const { token, authorization = params['Authorization'] } = params;
  if (token !== undefined && token !== null) {
    return typeof token === 'string' ? token : new TokenRefusal('Expected token to be text');
  }
  if (authorization !== undefined && authorization !== null) return bearerToken(authorization);
  // A browser sends the name and password of HTTP Basic with each request, for the proxy that has asked for them.
  if (/^Bearer /i.test(headers.authorization ?? '')) return bearerToken(headers.authorization);
  // A browser sends cookies with the requests of any page. Only the origin, which the server has compared with ORIGINS
  // before, distinguishes pages. Without an origin, cookies count only in a GET of a page of the same host.
  const isCompared = headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin';
  const inCookie = cookie !== undefined && isCompared ? cookieOf(headers.cookie, cookie) : undefined;
  // Only a token without `Bearer` looks like this: bearerToken then tells the client that the scheme is missing.
  return (
    inCookie ?? (TOKEN.test(headers.authorization ?? '') ? bearerToken(headers.authorization) : undefined)
  );
}

function bearerToken(header: unknown): string | TokenRefusal {
  const [, token] = (typeof header === 'string' && /^Bearer +([^\s]+) *$/i.exec(header)) || [];
  return token ?? new TokenRefusal('Expected authorization to be "Bearer " and a token');
}

/** @returns undefined if there is no cookie of this name, or an empty one */
function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() !== name) continue;
    const value = pair.slice(at + 1).trim();
    return value === '' ? undefined : value;
  }
  return undefined;
}
