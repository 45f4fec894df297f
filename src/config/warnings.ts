import { closest } from 'fastest-levenshtein';
import type { Config } from './settings.ts';

/** Of a service `redis`, Kubernetes sets REDIS_SERVICE_HOST, REDIS_PORT, REDIS_PORT_6379_TCP_ADDR and the like. */
const KUBERNETES = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$/;

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
  return warnings;
}
