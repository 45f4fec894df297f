import { authContradictions } from './auth-contradictions.ts';
import { kafkaContradictions } from './kafka-contradictions.ts';
import { redisContradictions } from './redis-contradictions.ts';
import type { Config } from './settings.ts';
import { usesRedis } from './uses-redis.ts';

/** Faults of settings that are valid alone, but not together. */
export function contradictions(config: Config): string[] {
  const faults = [
    ...authContradictions(config),
    ...kafkaContradictions(config),
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
