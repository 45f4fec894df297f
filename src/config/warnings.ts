import { nearest } from '../support/nearest.ts';
import { isProduction } from './config.ts';
import type { Config } from './settings.ts';
import { usesRedis } from './uses-redis.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that Kubernetes sets for a service: REDIS_SERVICE_HOST, REDIS_PORT, REDIS_PORT_6379_TCP_ADDR and the like. */
const KUBERNETES = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$/;

/** npm and yarn set INIT_CWD for every script, to the folder of the call; `node --watch` sets the other variable. */
const OF_OTHERS = new Set(['INIT_CWD', 'WATCH_REPORT_DEPENDENCIES']);

function unknownName(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return near === undefined ? `${name} is no setting` : `${name} is no setting; the nearest one is ${near}`;
}

function authWarnings({ AUTH_JWKS_URL, AUTH_AUDIENCE }: Config): string[] {
  if (AUTH_JWKS_URL === undefined) return [];
  const warnings: string[] = [];
  if (AUTH_JWKS_URL.startsWith('http:')) {
    warnings.push('AUTH_JWKS_URL without https: others on the network can replace the keys');
  }
  if (AUTH_AUDIENCE.length === 0) {
    warnings.push(
      'AUTH_JWKS_URL without AUTH_AUDIENCE: tokens that were issued for other services are accepted',
    );
  }
  return warnings;
}

const CAPS_PER_ADDRESS = ['MAX_CONNECTIONS_PER_ADDRESS', 'CONNECTIONS_PER_SECOND_PER_ADDRESS'] as const;
const CAPS_PER_VIEWER = ['MAX_CONNECTIONS_PER_VIEWER', 'MAX_OPERATIONS_PER_VIEWER'] as const;

/** Warns of caps that are set without effect, as addresses or viewers are not known. Defaults are no reason to warn. */
function capWarnings(env: Environment, config: Config): string[] {
  // 0 is no limit.
  const isCap = (name: keyof Config): boolean => (env[name] ?? '') !== '' && config[name] !== 0;
  const addresses = config.TRUSTED_PROXIES === undefined && !config.PROXY_PROTOCOL ? CAPS_PER_ADDRESS : [];
  const viewers = config.VIEWER_ID === undefined ? CAPS_PER_VIEWER : [];
  return [
    ...addresses
      .filter(isCap)
      .map(
        (name) =>
          `${name} has no effect without TRUSTED_PROXIES or PROXY_PROTOCOL; TRUSTED_PROXIES=none if clients connect directly`,
      ),
    ...viewers.filter(isCap).map((name) => `${name} has no effect without VIEWER_ID, such as VIEWER_ID=id`),
  ];
}

/** Warns if a gateway in production has neither Kafka nor Redis: it is ready, but a setting was probably forgotten. */
function aloneWarnings(env: Environment, config: Config): string[] {
  if (!isProduction(env) || config.KAFKA_BROKERS.length > 0 || usesRedis(config)) return [];
  return [
    'KAFKA_BROKERS and REDIS_URL are not set: the only events are those sent by POST /events/<topic>, or made up for the bundled graph; they reach clients of this pod only, as pods share nothing',
  ];
}

/** Warnings about valid settings that may be mistakes, for the log at the start. */
export function configWarnings(env: Environment, config: Config): string[] {
  const names = Object.keys(config);
  const prefixes = new Set(
    names.filter((name) => name.includes('_')).map((name) => `${name.split('_')[0]}_`),
  );
  const warnings = Object.keys(env)
    .filter((name) => [...prefixes].some((prefix) => name.startsWith(prefix)))
    .filter((name) => !names.includes(name) && !KUBERNETES.test(name) && !OF_OTHERS.has(name))
    .map((name) => unknownName(name, names));
  if (config.KAFKA_SASL_MECHANISM !== undefined && !config.KAFKA_TLS) {
    warnings.push('KAFKA_SASL_MECHANISM without KAFKA_TLS: others on the network can read what is sent');
  }
  if (config.KAFKA_OAUTH_TOKEN_URL?.startsWith('http:') === true) {
    warnings.push(
      'KAFKA_OAUTH_TOKEN_URL without https: others on the network can read the secret and the tokens',
    );
  }
  warnings.push(...authWarnings(config), ...capWarnings(env, config), ...aloneWarnings(env, config));
  return warnings;
}
