import { claimedNames, ClaimPicker } from '../auth/claims.ts';
import { Jwks } from '../auth/jwks.ts';
import { changingSecret, fixedKey, publicKey, type Keys } from '../auth/keys.ts';
import { TokenVerifier } from '../auth/verifier.ts';
import { algorithmsOf, readSettingFile } from '../config/config.ts';
import { TokenAuthenticator } from '../context/token-authenticator.ts';
import { systemClock } from '../support/clock.ts';
import { LogThrottle } from '../support/log-throttle.ts';
import type { SessionsOptions } from '../transports/connections/sessions.ts';
import type { LoadedGraph } from '../graph/loader/load-graph.ts';
import type { Basics } from './basics.ts';
import type { GraphInForce } from './graph-in-force.ts';
import type { Revoking } from './revoking.ts';

/** The period in which clients that are refused for the same outage are logged once, ms. */
const LOG_PERIOD_MS = 60_000;

/** @returns undefined if clients connect without tokens */
export function createKeys({ config, metrics, log }: Basics): Keys | undefined {
  const { AUTH_SECRET, AUTH_SECRET_PREVIOUS, AUTH_PUBLIC_KEY, AUTH_JWKS_URL } = config;
  if (AUTH_SECRET !== undefined) {
    const secret = Buffer.from(AUTH_SECRET);
    if (AUTH_SECRET_PREVIOUS === undefined) return fixedKey(secret);
    return changingSecret(secret, Buffer.from(AUTH_SECRET_PREVIOUS));
  }
  if (AUTH_PUBLIC_KEY !== undefined) {
    return fixedKey(publicKey(readSettingFile('AUTH_PUBLIC_KEY', AUTH_PUBLIC_KEY)));
  }
  if (AUTH_JWKS_URL === undefined) return undefined;
  return new Jwks({
    url: AUTH_JWKS_URL,
    clock: systemClock,
    log: log.child({ part: 'authenticate' }),
    onFailure: () => metrics.jwksFailures.inc(),
  });
}

/** @returns the properties that viewers may have; undefined if viewers are not made only of claims */
export function viewerProperties(
  { config }: Basics,
  keys: unknown,
  { definition }: Pick<LoadedGraph, 'definition'>,
): readonly string[] | undefined {
  if (keys === undefined || definition.authenticate !== undefined) return undefined;
  return claimedNames(config);
}

export function createTokenAuthenticator(
  { config, metrics, log }: Basics,
  keys: Keys,
  { revocations, notReady }: Pick<Revoking, 'revocations' | 'notReady'>,
  inForce: Pick<GraphInForce, 'current'>,
): TokenAuthenticator {
  const authLog = log.child({ part: 'authenticate' });
  const throttle = new LogThrottle({ lines: 1, periodMs: LOG_PERIOD_MS, now: () => performance.now() });
  return new TokenAuthenticator({
    verifier: new TokenVerifier({
      keys,
      algorithms: algorithmsOf(config),
      issuers: config.AUTH_ISSUER,
      audiences: config.AUTH_AUDIENCE,
      toleranceSeconds: config.AUTH_CLOCK_TOLERANCE_SECONDS,
      now: Date.now,
      log: authLog,
    }),
    revocations,
    revocationsAreRead: () => notReady() === undefined,
    claims: new ClaimPicker(config.AUTH_CLAIMS),
    cookie: config.AUTH_COOKIE,
    anonymous: config.AUTH_ANONYMOUS,
    keysUnavailable: () => {
      metrics.refused('keys_unavailable');
      const suppressed = throttle.admit();
      if (suppressed !== undefined)
        authLog.warn(
          { suppressed },
          'a client was refused for now: the keys of AUTH_JWKS_URL are out of reach',
        );
    },
    get authenticator() {
      return inForce.current.authenticator;
    },
  });
}

export function sessionsOptions({ config, log }: Basics, authenticator: TokenAuthenticator): SessionsOptions {
  return {
    authenticator,
    warnMs: config.AUTH_WARN_SECONDS * 1000,
    graceMs: config.AUTH_GRACE_SECONDS * 1000,
    toleranceMs: config.AUTH_CLOCK_TOLERANCE_SECONDS * 1000,
    now: Date.now,
    log: log.child({ part: 'websocket' }),
  };
}
