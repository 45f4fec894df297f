import { kafkaContradictions } from './kafka-contradictions.ts';
import type { Config } from './settings.ts';
import { usesRedis } from './uses-redis.ts';
import { PUBLIC_KEY_ALGORITHMS, SECRET_ALGORITHMS } from './settings/auth.ts';

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
function redisContradictions(config: Config): string[] {
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

/** Settings that each tell the schema registry who asks: one of these at most. */
const REGISTRY_LOGINS = [
  'SCHEMA_REGISTRY_USERNAME',
  'SCHEMA_REGISTRY_TOKEN_FILE',
  'SCHEMA_REGISTRY_OAUTH_TOKEN_URL',
] as const;

/** Groups of settings of which exactly one is needed with another one, and none without it. */
const REGISTRY_NEEDS = [
  ['SCHEMA_REGISTRY_USERNAME', ['SCHEMA_REGISTRY_PASSWORD', 'SCHEMA_REGISTRY_PASSWORD_FILE']],
  ['SCHEMA_REGISTRY_OAUTH_TOKEN_URL', ['SCHEMA_REGISTRY_OAUTH_CLIENT_ID']],
  [
    'SCHEMA_REGISTRY_OAUTH_TOKEN_URL',
    ['SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET', 'SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET_FILE'],
  ],
  ['SCHEMA_REGISTRY_CERT', ['SCHEMA_REGISTRY_KEY']],
] as const;

/** Faults of the settings of the schema registry that are valid alone, but not together. No value is shown. */
function registryContradictions(config: Config): string[] {
  const has = (name: keyof Config): boolean => isGiven(config[name]);
  const faults: string[] = [];
  const logins = REGISTRY_LOGINS.filter(has);
  if (logins.length > 1) {
    faults.push(`  ${REGISTRY_LOGINS.join(', ')}: expected one of them, got ${logins.join(' and ')}`);
  }
  for (const [name, needed] of REGISTRY_NEEDS) {
    const given = needed.filter(has);
    if (has(name) && given.length !== 1) {
      faults.push(`  ${needed.join(', ')}: expected one of them, as ${name} is set, got ${given.length}`);
    } else if (!has(name) && given.length > 0) {
      faults.push(`  ${name}: expected a value, as ${given.join(' and ')} is set, got nothing`);
    }
  }
  if (has('SCHEMA_REGISTRY_OAUTH_SCOPE') && !has('SCHEMA_REGISTRY_OAUTH_TOKEN_URL')) {
    faults.push(
      '  SCHEMA_REGISTRY_OAUTH_TOKEN_URL: expected a value, as SCHEMA_REGISTRY_OAUTH_SCOPE is set, got nothing',
    );
  }
  const others = [...logins, 'SCHEMA_REGISTRY_CA' as const, 'SCHEMA_REGISTRY_CERT' as const].filter(has);
  if (config.SCHEMA_REGISTRY_URL.length === 0 && others.length > 0) {
    faults.push(`  SCHEMA_REGISTRY_URL: expected a URL, as ${others.join(' and ')} is set, got nothing`);
  }
  return faults;
}

const KEYS = ['AUTH_SECRET', 'AUTH_PUBLIC_KEY', 'AUTH_JWKS_URL'] as const;

/** Settings that have an effect only with a key; without a key, every client may connect. */
const NEED_KEY = [
  'AUTH_ALGORITHMS',
  'AUTH_ISSUER',
  'AUTH_AUDIENCE',
  'AUTH_COOKIE',
  'AUTH_ANONYMOUS',
] as const;

const MIN_SECRET_BYTES = 32;

/** Faults of the settings of authentication that are valid alone, but not together. */
function authContradictions(config: Config): string[] {
  const keys = KEYS.filter((name) => config[name] !== undefined);
  const [key] = keys;
  const faults: string[] = [];
  if (keys.length > 1) faults.push(`  ${keys.join(', ')}: expected one of them, got ${keys.length}`);
  if (config.AUTH_SECRET_PREVIOUS !== undefined && config.AUTH_SECRET === undefined)
    faults.push('  AUTH_SECRET: expected one, as AUTH_SECRET_PREVIOUS is set, got none');
  if (key === undefined) {
    const needing = NEED_KEY.filter((name) => isGiven(config[name]));
    if (needing.length === 0) return faults;
    return [`  ${KEYS.join(', ')}: expected one of them, as ${needing.join(' and ')} is set, got none`];
  }
  const fitting: readonly string[] = key === 'AUTH_SECRET' ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
  const unfitting = config.AUTH_ALGORITHMS.filter((name) => !fitting.includes(name));
  if (unfitting.length > 0) {
    faults.push(
      `  AUTH_ALGORITHMS: expected ${fitting.join(', ')}, as ${key} is set, got ${unfitting.join(', ')}`,
    );
  }
  // Neither the secret nor its length is shown.
  for (const name of ['AUTH_SECRET', 'AUTH_SECRET_PREVIOUS'] as const) {
    const secret = config[name];
    if (secret !== undefined && Buffer.byteLength(secret) < MIN_SECRET_BYTES)
      faults.push(`  ${name}: expected at least ${MIN_SECRET_BYTES} bytes, got fewer`);
  }
  if (config.AUTH_JWKS_URL !== undefined && hasCredentials(new URL(config.AUTH_JWKS_URL))) {
    faults.push('  AUTH_JWKS_URL: expected no user name and no password, got some');
  }
  if (config.AUTH_COOKIE !== undefined && config.ORIGINS.includes('*')) {
    faults.push(
      '  ORIGINS: expected the origins of your pages, as AUTH_COOKIE is set and browsers send cookies for any page, got *',
    );
  }
  return faults;
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** Faults of settings that are valid alone, but not together. */
export function contradictions(config: Config): string[] {
  const faults = [
    ...authContradictions(config),
    ...kafkaContradictions(config),
    ...registryContradictions(config),
    ...redisContradictions(config),
  ];
  if (config.WORKERS !== 1 && config.KAFKA_BROKERS.length === 0 && !usesRedis(config)) {
    faults.push(
      `  WORKERS: expected 1, as neither KAFKA_BROKERS nor Redis is set and a process would not get the others' events, got ${config.WORKERS}`,
    );
  }
  if (config.PERSISTED_DOCUMENTS_ONLY && config.PERSISTED_DOCUMENTS === undefined) {
    faults.push('  PERSISTED_DOCUMENTS: expected a file, as PERSISTED_DOCUMENTS_ONLY is true, got nothing');
  }
  for (const [name, other] of [
    ['TLS_CERT', 'TLS_KEY'],
    ['TLS_KEY', 'TLS_CERT'],
  ] as const) {
    if (config[name] === undefined && config[other] !== undefined) {
      faults.push(`  ${name}: expected a file, as ${other} is set, got nothing`);
    }
  }
  if (wantsOneSocketTwice(config)) {
    faults.push(`  ADMIN_PORT: expected another port than PORT, got ${config.PORT} for both`);
  }
  faults.push(...pressureFaults(config));
  return faults;
}

function pressureFaults(config: Config): string[] {
  const {
    PRESSURE_REFUSE_PERCENT: refuse,
    PRESSURE_PAUSE_PERCENT: pause,
    PRESSURE_SHED_PERCENT: shed,
  } = config;
  if (refuse <= pause && pause <= shed) return [];
  return [
    `  PRESSURE_PAUSE_PERCENT: expected a number from PRESSURE_REFUSE_PERCENT (${refuse}) to PRESSURE_SHED_PERCENT (${shed}), got ${pause}`,
  ];
}

/** Two servers may have the same port only on different addresses; 0 is a free port for each. */
function wantsOneSocketTwice({ PORT, ADMIN_PORT, BIND, ADMIN_BIND }: Config): boolean {
  if (PORT === 0 || PORT !== ADMIN_PORT) return false;
  return (
    BIND === ADMIN_BIND || [BIND, ADMIN_BIND].some((address) => address === undefined || isEvery(address))
  );
}

function isEvery(address: string): boolean {
  return address === '::' || address === '0.0.0.0';
}
