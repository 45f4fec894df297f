import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../log.ts';
import type { Address, RedisAccess, RedisCredentials } from './access.ts';

/** An attempt to connect that gets no answer, TLS included. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The longest pause between two attempts to connect. */
export const MAX_RETRY_MS = 400;

/** Without an option of which ioredis wants to know at compile time. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** Between two attempts to listen to a Sentinel: the others announce the same. */
const SENTINEL_RETRY_MS = 5_000;

/** What differs between connections. */
type Differences = Pick<
  Options,
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
  const { username, password, ca } = access.credentials ?? {};
  const options: Options = {
    lazyConnect: true,
    keepAlive: 10_000,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(50 * times, MAX_RETRY_MS) * (0.5 + Math.random() / 2),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...differences,
  };
  if ('url' in access) {
    return new Redis(access.url, { ...options, ...(ca !== undefined && { tls: { ca } }) });
  }
  const { tls = false, credentials = {} } = access;
  const secure = tls ? tlsOf(credentials) : undefined;
  if ('address' in access)
    return new Redis({ ...options, ...access.address, ...(secure && { tls: secure }) });
  const { sentinels, master } = access;
  return new Redis({
    ...options,
    sentinels: sentinels.map((sentinel) => ({ ...sentinel })),
    name: master,
    role: 'master',
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    // Always the same, as what is logged tells it.
    sentinelRetryStrategy: () => MAX_RETRY_MS,
    ...sentinelLogin(credentials),
    ...(secure && { tls: secure, sentinelTLS: secure, enableTLSForSentinelMode: true }),
  });
}

/** A client of one Sentinel, which listens to what it announces. */
export function createSentinelClient(
  { host, port }: Address,
  { tls = false, credentials = {} }: RedisAccess,
): Redis {
  const { sentinelUsername: username, sentinelPassword: password } = credentials;
  return new Redis({
    host,
    port,
    lazyConnect: true,
    keepAlive: 10_000,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: null,
    // Sentinel's reply to INFO says nothing of whether it is ready.
    enableReadyCheck: false,
    retryStrategy: () => SENTINEL_RETRY_MS,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: tlsOf(credentials) }),
  });
}

function tlsOf({ ca }: RedisCredentials) {
  return { ...(ca !== undefined && { ca }) };
}

function sentinelLogin({ sentinelUsername, sentinelPassword }: RedisCredentials) {
  return {
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
  };
}

/** Logs one line for each outage, not for each attempt to connect. */
export function logOutages(redis: Redis, log: Log): void {
  let logged: string | undefined;
  /** Why the last Sentinel that was asked has told no address; ioredis says only that none did. */
  let ofSentinel: string | undefined;
  redis.on('sentinelError', (error: Error) => (ofSentinel = error.message));
  redis.on('ready', () => {
    logged = undefined;
    log.info('connected to Redis');
  });
  redis.on('error', ({ message }: Error) => {
    const reason = ofSentinel ?? message;
    ofSentinel = undefined;
    if (reason !== logged) log.warn({ reason }, 'Redis is out of reach');
    logged = reason;
  });
}
