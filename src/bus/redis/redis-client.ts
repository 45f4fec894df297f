import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../log.ts';
import type { Address, RedisAccess, RedisCredentials } from './access.ts';

/** The time that an attempt to connect may take, TLS included. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The longest pause between two attempts to connect. */
export const MAX_RETRY_MS = 400;

/** Without an option of which ioredis wants to know at compile time. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** The time that a Sentinel has to answer. The others tell the same. */
const SENTINEL_TIMEOUT_MS = 1_000;

/** What differs between connections. */
type Differences = Pick<
  Options,
  | 'Connector'
  | 'autoResendUnfulfilledCommands'
  | 'autoResubscribe'
  | 'enableOfflineQueue'
  | 'maxRetriesPerRequest'
  | 'socketTimeout'
>;

/** A client that connects by `connect()`, and again after each lost connection, until `disconnect()`. */
export function createRedis(
  access: Exclude<RedisAccess, { nodes: unknown }>,
  differences: Differences,
): Redis {
  const redis: Redis = new Redis({
    ...placeOf(access),
    lazyConnect: true,
    keepAlive: 10_000,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (times) => {
      // Passwords and certificates may have been replaced.
      Object.assign(redis.options, secretsOf(access));
      return Math.min(50 * times, MAX_RETRY_MS) * (0.5 + Math.random() / 2);
    },
    ...secretsOf(access),
    ...differences,
  });
  return redis;
}

/** A client of one Sentinel, which connects with its first command. */
export function createSentinelClient({ host, port }: Address, access: RedisAccess): Redis {
  const redis: Redis = new Redis({
    host,
    port,
    lazyConnect: true,
    keepAlive: 10_000,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: SENTINEL_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    // Sentinel's reply to INFO does not say whether it is ready.
    enableReadyCheck: false,
    retryStrategy: () => {
      Object.assign(redis.options, secretsOfSentinel(access));
      return MAX_RETRY_MS;
    },
    ...secretsOfSentinel(access),
  });
  return redis;
}

/** The address in `access`; empty if a connector finds the address. */
function placeOf(access: Exclude<RedisAccess, { nodes: unknown }>): Options {
  if ('url' in access) {
    const { hostname, port, username, password } = new URL(access.url);
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port !== '' && { port: Number(port) }),
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
    };
  }
  return 'address' in access ? access.address : {};
}

/** The present credentials and certificates for a connection. */
function secretsOf(access: RedisAccess): Options {
  const credentials = access.credentials?.() ?? {};
  const { username, password } = credentials;
  const tls = hasTls(access) ? tlsOf(credentials) : undefined;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
  };
}

function secretsOfSentinel(access: RedisAccess): Options {
  const credentials = access.credentials?.() ?? {};
  const { sentinelUsername: username, sentinelPassword: password } = credentials;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(hasTls(access) && { tls: tlsOf(credentials) }),
  };
}

function hasTls(access: RedisAccess): boolean {
  return 'url' in access ? access.url.startsWith('rediss:') : access.tls === true;
}

function tlsOf({ ca, cert, key }: RedisCredentials) {
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

/** Logged in place of Redis's own message, which speaks of its protocol. */
const NO_PASSWORD =
  'expected a password in REDIS_URL, REDIS_PASSWORD or REDIS_PASSWORD_FILE, got none, which this Redis refuses';

/**
 * Logs one line for each reason of an outage, not for each attempt to connect: if a server closes the connection while it
 * is being made, sometimes a write notices it, sometimes a read.
 */
export function logOutages(redis: Pick<Redis, 'on'>, log: Log): void {
  const logged = new Set<string>();
  redis.on('ready', () => {
    logged.clear();
    log.info('connected to Redis');
  });
  redis.on('error', ({ message }: Error) => {
    const reason = message.startsWith('NOAUTH') ? NO_PASSWORD : message;
    if (!logged.has(reason)) log.warn({ reason }, 'Redis is out of reach');
    logged.add(reason);
  });
}
