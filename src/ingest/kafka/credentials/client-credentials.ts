import { messageOf } from '../../../errors.ts';
import { readBody } from '../../../support/read-body.ts';
import { shortened } from '../../../support/shortened.ts';
import { expiryOf } from './expiry.ts';
import type { IssuedToken } from './renewed-token.ts';
import { TokenUnavailable } from './token-unavailable.ts';

interface ClientCredentialsOptions {
  /** The setting with the URL, for errors. */
  readonly setting: string;
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: () => string;
  /** How both are sent. */
  readonly clientAuth: 'basic' | 'post';
  readonly scope: string | undefined;
  readonly audience: string | undefined;
  /** How long an answer may take. @default 5000 */
  readonly timeoutMs?: number;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Shorter than the time that kafkajs allows for an authentication. */
const TIMEOUT_MS = 5_000;

const MAX_BYTES = 262_144;
const SHOWN_CHARACTERS = 300;

/** Statuses that the endpoint may not return the next time, besides all of 500 and above. */
const TEMPORARY = new Set([408, 425, 429]);

/**
 * Gets a token from an endpoint with client credentials (RFC 6749, 4.4).
 *
 * @throws TokenUnavailable, or SluiceError BAD_SETTINGS if the secret's file is not what it must be
 */
export async function issueToken(options: ClientCredentialsOptions): Promise<IssuedToken> {
  const { now } = options;
  const request = requestOf(options);
  const askedAt = now();
  const { status, body } = await exchange(options, request);
  const answer = fieldsOf(body);
  if (status !== 200) {
    // Some endpoints repeat what they were sent.
    const secret = options.clientSecret();
    const reason = [answer['error'], answer['error_description']]
      .filter((text) => typeof text === 'string')
      .map((text) => text.replaceAll(secret, '…').replaceAll(encodeURIComponent(secret), '…'));
    const retriable = status >= 500 || TEMPORARY.has(status);
    throw unavailable(options, `status ${[status, ...reason].join(', ')}`, { retriable });
  }
  const { access_token: value, token_type: type = 'Bearer', expires_in: seconds } = answer;
  if (typeof value !== 'string' || value === '')
    throw unavailable(options, 'an answer without access_token', { retriable: false });
  if (String(type).toLowerCase() !== 'bearer')
    throw unavailable(options, `one of type ${String(type)}`, { retriable: false });
  // Without either, it is unknown how long the token is valid, so each connection gets its own.
  const life = Number(seconds ?? 0) * 1_000;
  return {
    value,
    expiresAt: life > 0 && Number.isFinite(life) ? askedAt + life : (expiryOf(value) ?? askedAt),
  };
}

function requestOf({
  clientId,
  clientSecret,
  clientAuth,
  scope,
  audience,
}: ClientCredentialsOptions): RequestInit {
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) body.set('scope', scope);
  if (audience !== undefined) body.set('audience', audience);
  const headers: Record<string, string> = { accept: 'application/json' };
  const secret = clientSecret();
  if (clientAuth === 'post') {
    body.set('client_id', clientId);
    body.set('client_secret', secret);
  } else {
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return { method: 'POST', redirect: 'manual', headers, body };
}

async function exchange(
  options: ClientCredentialsOptions,
  request: RequestInit,
): Promise<{ status: number; body: string }> {
  const { url, timeoutMs = TIMEOUT_MS } = options;
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) });
    return { status: response.status, body: await readBody(response, MAX_BYTES) };
  } catch (cause) {
    throw unavailable(options, reasonOf(cause), { retriable: true, cause });
  }
}

/** An error of `fetch` has its reason in `cause`; if it has tried several addresses, only in a code there. */
function reasonOf(thrown: unknown): string {
  const cause =
    thrown instanceof Error ? (thrown.cause as (Error & { code?: string }) | undefined) : undefined;
  return cause?.message || cause?.code || messageOf(thrown);
}

function fieldsOf(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function unavailable(
  { setting }: ClientCredentialsOptions,
  came: string,
  options: ConstructorParameters<typeof TokenUnavailable>[1],
): TokenUnavailable {
  const expected = `${setting}: expected status 200 and a bearer token`;
  return new TokenUnavailable(`${expected}, got ${shortened(came, SHOWN_CHARACTERS)}`, options);
}
