import { KAFKA_ACCESS_SETTINGS } from './settings/kafka.ts';
import type { Config } from './settings.ts';
import { usesRedis } from './uses-redis.ts';

type Name = keyof typeof KAFKA_ACCESS_SETTINGS;

/** Settings in pairs: a value is given as it is, or as a file. */
const USERNAME = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_USERNAME_FILE'] as const;
const PASSWORD = ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_PASSWORD_FILE'] as const;
const PASSPHRASE = ['KAFKA_KEY_PASSPHRASE', 'KAFKA_KEY_PASSPHRASE_FILE'] as const;
const CLIENT_SECRET = ['KAFKA_OAUTH_CLIENT_SECRET', 'KAFKA_OAUTH_CLIENT_SECRET_FILE'] as const;

const TOKEN = ['KAFKA_OAUTH_TOKEN_FILE', 'KAFKA_OAUTH_TOKEN_URL'] as const;

/** Settings that have an effect only with a token endpoint. */
const OF_ENDPOINT = [
  'KAFKA_OAUTH_CLIENT_ID',
  ...CLIENT_SECRET,
  'KAFKA_OAUTH_SCOPE',
  'KAFKA_OAUTH_AUDIENCE',
] as const;

const OF_PASSWORD = [...USERNAME, ...PASSWORD] as const;
const OF_TOKEN = [...TOKEN, ...OF_ENDPOINT, 'KAFKA_OAUTH_EXTENSIONS'] as const;

/** The settings that each mechanism takes; a mechanism that does not list a setting does not take it. */
const TAKEN: Readonly<Record<NonNullable<Config['KAFKA_SASL_MECHANISM']>, readonly Name[]>> = {
  plain: OF_PASSWORD,
  'scram-sha-256': OF_PASSWORD,
  'scram-sha-512': OF_PASSWORD,
  oauthbearer: OF_TOKEN,
  'aws-msk-iam': ['KAFKA_AWS_REGION'],
};

/** Faults of the settings of the connection to Kafka that are valid alone, but not together. */
export function kafkaContradictions(config: Config): string[] {
  const isGiven = (name: Name): boolean => config[name] !== undefined && String(config[name]) !== '';
  return [
    ...tlsFaults(config, isGiven),
    ...mechanismFaults(config, isGiven),
    ...protocolFaults(config),
    ...instanceFaults(config),
  ];
}

function protocolFaults({ KAFKA_GROUP_PROTOCOL: protocol, KAFKA_DRIVER }: Config): string[] {
  if (protocol === 'classic' || KAFKA_DRIVER === 'platformatic') return [];
  return [
    `  KAFKA_DRIVER: expected platformatic, as KAFKA_GROUP_PROTOCOL is ${protocol}, got ${KAFKA_DRIVER}`,
  ];
}

/** An instance id names one member of a consumer group that several pods share. */
function instanceFaults(config: Config): string[] {
  const { KAFKA_INSTANCE_ID: id, KAFKA_DRIVER, WORKERS } = config;
  if (id === undefined) return [];
  const faults: string[] = [];
  if (KAFKA_DRIVER !== 'platformatic')
    faults.push(`  KAFKA_DRIVER: expected platformatic, as KAFKA_INSTANCE_ID is set, got ${KAFKA_DRIVER}`);
  if (!usesRedis(config))
    faults.push(
      `  KAFKA_INSTANCE_ID: expected nothing, as without Redis each process has a group of its own, got ${id}`,
    );
  if (WORKERS !== 1)
    faults.push(`  WORKERS: expected 1, as KAFKA_INSTANCE_ID names one member of the group, got ${WORKERS}`);
  return faults;
}

type IsGiven = (name: Name) => boolean;

function tlsFaults({ KAFKA_TLS }: Config, isGiven: IsGiven): string[] {
  const faults: string[] = [];
  const first = (['KAFKA_CA', 'KAFKA_CERT', 'KAFKA_KEY'] as const).find(isGiven);
  if (first !== undefined && !KAFKA_TLS)
    faults.push(`  KAFKA_TLS: expected true, as ${first} is set, got false`);
  for (const [name, other] of [
    ['KAFKA_CERT', 'KAFKA_KEY'],
    ['KAFKA_KEY', 'KAFKA_CERT'],
    ['KAFKA_KEY', PASSPHRASE[0]],
    ['KAFKA_KEY', PASSPHRASE[1]],
  ] as const) {
    if (isGiven(other) && !isGiven(name)) faults.push(nothing(name, 'a file', `${other} is set`));
  }
  return [...faults, ...atMostOne(PASSPHRASE, isGiven)];
}

function mechanismFaults(config: Config, isGiven: IsGiven): string[] {
  const { KAFKA_SASL_MECHANISM: mechanism } = config;
  const faults = unfitting(mechanism, isGiven);
  if (mechanism === undefined) return faults;
  const why = `KAFKA_SASL_MECHANISM is ${mechanism}`;
  if (mechanism === 'oauthbearer') {
    return [...faults, ...exactlyOne(TOKEN, why, isGiven), ...endpointFaults(config, isGiven)];
  }
  if (mechanism === 'aws-msk-iam') {
    // Amazon MSK has no listener for this mechanism without TLS.
    if (!config.KAFKA_TLS) faults.push(`  KAFKA_TLS: expected true, as ${why}, got false`);
    const { expected } = KAFKA_ACCESS_SETTINGS.KAFKA_AWS_REGION;
    return isGiven('KAFKA_AWS_REGION') ? faults : [...faults, nothing('KAFKA_AWS_REGION', expected, why)];
  }
  return [...faults, ...exactlyOne(USERNAME, why, isGiven), ...exactlyOne(PASSWORD, why, isGiven)];
}

function endpointFaults({ KAFKA_OAUTH_TOKEN_URL: url }: Config, isGiven: IsGiven): string[] {
  if (url !== undefined) {
    const why = 'KAFKA_OAUTH_TOKEN_URL is set';
    const id = 'KAFKA_OAUTH_CLIENT_ID';
    const faults = isGiven(id) ? [] : [nothing(id, 'text', why)];
    if (hasCredentials(new URL(url))) {
      faults.push('  KAFKA_OAUTH_TOKEN_URL: expected no user name and no password, got some');
    }
    return [...faults, ...exactlyOne(CLIENT_SECRET, why, isGiven)];
  }
  return OF_ENDPOINT.filter(isGiven).map(
    (name) => `  ${name}: expected nothing, as KAFKA_OAUTH_TOKEN_URL is not set, got a value`,
  );
}

/** Settings that the mechanism does not take: no value is shown, as it may be a secret. */
function unfitting(mechanism: Config['KAFKA_SASL_MECHANISM'], isGiven: IsGiven): string[] {
  const taken = mechanism === undefined ? [] : TAKEN[mechanism];
  const all = [...new Set(Object.values(TAKEN).flat())];
  const others = all.filter((name) => !taken.includes(name) && isGiven(name));
  if (mechanism === undefined) {
    const { expected } = KAFKA_ACCESS_SETTINGS.KAFKA_SASL_MECHANISM;
    return others.map((name) => nothing('KAFKA_SASL_MECHANISM', expected, `${name} is set`));
  }
  return others.map(
    (name) => `  ${name}: expected nothing, as KAFKA_SASL_MECHANISM is ${mechanism}, got a value`,
  );
}

function exactlyOne(names: readonly [Name, Name], why: string, isGiven: IsGiven): string[] {
  if (names.some(isGiven)) return atMostOne(names, isGiven);
  return [`  ${names.join(', ')}: expected one of them, as ${why}, got none`];
}

function atMostOne(names: readonly [Name, Name], isGiven: IsGiven): string[] {
  return names.every(isGiven) ? [`  ${names.join(', ')}: expected one of them, got 2`] : [];
}

function nothing(name: Name, expected: string, why: string): string {
  return `  ${name}: expected ${expected}, as ${why}, got nothing`;
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}
