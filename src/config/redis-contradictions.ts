import type { Config } from './settings.ts';
import { usesRedis } from './uses-redis.ts';

const PLACES = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER'] as const;

const OF_SENTINEL = [
  'REDIS_SENTINEL_MASTER',
  'REDIS_SENTINEL_USERNAME',
  'REDIS_SENTINEL_USERNAME_FILE',
  'REDIS_SENTINEL_PASSWORD',
  'REDIS_SENTINEL_PASSWORD_FILE',
] as const;

/** Settings that are given as they are, or as files. */
const LOGINS = [
  'REDIS_USERNAME',
  'REDIS_PASSWORD',
  'REDIS_SENTINEL_USERNAME',
  'REDIS_SENTINEL_PASSWORD',
] as const;

const OF_USER = ['REDIS_USERNAME', 'REDIS_USERNAME_FILE', 'REDIS_PASSWORD', 'REDIS_PASSWORD_FILE'] as const;

const OF_TLS = ['REDIS_CA', 'REDIS_CERT', 'REDIS_KEY'] as const;

/** Faults of the settings of Redis that are valid alone, but not together. */
export function redisContradictions(config: Config): string[] {
  const { REDIS_URL, REDIS_SENTINELS, REDIS_SENTINEL_MASTER, REDIS_CLUSTER, REDIS_PREFIX } = config;
  const places = PLACES.filter((name) => (config[name]?.length ?? 0) > 0);
  const hasSentinels = REDIS_SENTINELS.length > 0;
  const faults = REDIS_URL === undefined ? [] : urlFaults(new URL(REDIS_URL), config);
  if (places.length > 1) {
    faults.push(`  ${PLACES.join(', ')}: expected one of them, got ${places.join(' and ')}`);
  }
  if (hasSentinels && REDIS_SENTINEL_MASTER === undefined) {
    faults.push(
      '  REDIS_SENTINEL_MASTER: expected the name of the master, as REDIS_SENTINELS is set, got nothing',
    );
  }
  const ofSentinel = OF_SENTINEL.filter((name) => config[name] !== undefined);
  if (!hasSentinels && ofSentinel.length > 0) {
    faults.push(`  REDIS_SENTINELS: expected host:port, as ${ofSentinel.join(' and ')} is set, got nothing`);
  }
  const ofUser = OF_USER.filter((name) => config[name] !== undefined);
  if (!usesRedis(config) && ofUser.length > 0) {
    faults.push(`  ${PLACES.join(', ')}: expected one of them, as ${ofUser.join(' and ')} is set, got none`);
  }
  for (const name of LOGINS) {
    if (config[name] !== undefined && config[`${name}_FILE`] !== undefined) {
      faults.push(`  ${name}, ${name}_FILE: expected one of them, got both`);
    }
  }
  if (REDIS_CLUSTER.length === 0 && config.REDIS_CLUSTER_SPREAD.length > 0) {
    faults.push('  REDIS_CLUSTER: expected host:port, as REDIS_CLUSTER_SPREAD is set, got nothing');
  }
  if (REDIS_CLUSTER.length > 0 && /[{}]/.test(REDIS_PREFIX)) {
    faults.push(
      `  REDIS_PREFIX: expected no braces with REDIS_CLUSTER, since a topic stands in them, got ${REDIS_PREFIX}`,
    );
  }
  return [...faults, ...tlsFaults(config)];
}

function tlsFaults(config: Config): string[] {
  const { REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER, REDIS_TLS, REDIS_CERT, REDIS_KEY } = config;
  const faults: string[] = [];
  const hasList = REDIS_SENTINELS.length > 0 || REDIS_CLUSTER.length > 0;
  if (REDIS_TLS && !hasList) {
    faults.push(
      '  REDIS_TLS: expected false without REDIS_SENTINELS and REDIS_CLUSTER, as a URL says it by rediss://, got true',
    );
  }
  if ((REDIS_CERT === undefined) !== (REDIS_KEY === undefined)) {
    faults.push('  REDIS_CERT, REDIS_KEY: expected a certificate and its key, got one of them');
  }
  const given = OF_TLS.filter((name) => config[name] !== undefined);
  if (given.length === 0 || REDIS_TLS || REDIS_URL?.startsWith('rediss:')) return faults;
  const expected = hasList
    ? 'REDIS_TLS: expected true'
    : 'REDIS_URL: expected a URL that begins with rediss://';
  return [...faults, `  ${expected}, as ${given.join(' and ')} is set`];
}

function urlFaults({ pathname, search, username, password }: URL, config: Config): string[] {
  const faults: string[] = [];
  if (!/^\/?0?$/.test(pathname)) {
    faults.push(
      `  REDIS_URL: expected no database, since pub/sub has none and gateways would get the events of others: set REDIS_PREFIX to keep them apart, got ${pathname}`,
    );
  }
  // The parameters are not shown, since a password may be in them.
  if (search !== '') faults.push('  REDIS_URL: expected no parameters behind a question mark, got some');
  const given = OF_USER.filter((name) => config[name] !== undefined);
  if ((username !== '' || password !== '') && given.length > 0) {
    faults.push(
      `  REDIS_URL: expected no user and no password in it, as ${given.join(' and ')} is set, got some`,
    );
  }
  return faults;
}
