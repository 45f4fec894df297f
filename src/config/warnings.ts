import { closest } from 'fastest-levenshtein';
import type { Config } from './settings.ts';

/** Of a service `redis`, Kubernetes sets REDIS_SERVICE_HOST, REDIS_PORT, REDIS_PORT_6379_TCP_ADDR and the like. */
const KUBERNETES = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$/;

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

/** What may be meant otherwise, of settings that are valid: for the log, at the start. */
export function configWarnings(env: Readonly<Record<string, string | undefined>>, config: Config): string[] {
  const names = Object.keys(config);
  const prefixes = new Set(
    names.filter((name) => name.includes('_')).map((name) => `${name.split('_')[0]}_`),
  );
  const warnings = Object.keys(env)
    .filter((name) => [...prefixes].some((prefix) => name.startsWith(prefix)))
    .filter((name) => !names.includes(name) && !KUBERNETES.test(name))
    .map((name) => `${name} is no setting; the nearest one is ${closest(name, names)}`);
  if (config.KAFKA_SASL_MECHANISM !== undefined && !config.KAFKA_TLS) {
    warnings.push('KAFKA_SASL_MECHANISM without KAFKA_TLS: others on the network can read what is sent');
  }
  warnings.push(...authWarnings(config));
  return warnings;
}
