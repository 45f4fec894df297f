import { SERVER_SETTINGS } from './settings/server.ts';
import { AUTH_SETTINGS } from './settings/auth.ts';
import { COST_SETTINGS } from './settings/cost.ts';
import { DOCUMENTS_SETTINGS } from './settings/documents.ts';
import { KAFKA_SETTINGS } from './settings/kafka.ts';
import { KAFKA_ACCESS_SETTINGS } from './settings/kafka-access.ts';
import { REDIS_ACCESS_SETTINGS } from './settings/redis-access.ts';
import { REDIS_SETTINGS } from './settings/redis.ts';
import { LIMITS_SETTINGS } from './settings/limits.ts';
import { CAPS_SETTINGS } from './settings/caps.ts';
import { PROCESS_SETTINGS } from './settings/process.ts';
import { LOCAL_SETTINGS } from './settings/local.ts';
import { RATE_SETTINGS } from './settings/rates.ts';
import { PRESSURE_SETTINGS } from './settings/pressure.ts';
import type { Setting } from './types.ts';

/** All settings. The table of docs/reference/settings.md is generated from here (`sluice config --markdown`). */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...DOCUMENTS_SETTINGS,
  ...AUTH_SETTINGS,
  ...KAFKA_SETTINGS,
  ...KAFKA_ACCESS_SETTINGS,
  ...REDIS_ACCESS_SETTINGS,
  ...REDIS_SETTINGS,
  ...LIMITS_SETTINGS,
  ...COST_SETTINGS,
  ...RATE_SETTINGS,
  ...CAPS_SETTINGS,
  ...PRESSURE_SETTINGS,
  ...PROCESS_SETTINGS,
  ...LOCAL_SETTINGS,
} as const satisfies Record<string, Setting<unknown>>;

type Settings = typeof SETTINGS;

export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never;
};
