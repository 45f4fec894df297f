import { SERVER_SETTINGS, PROCESS_SETTINGS } from './settings/server.ts';
import { AUTH_SETTINGS } from './settings/auth.ts';
import { DOCUMENTS_SETTINGS } from './settings/documents.ts';
import { SCHEMA_REGISTRY_SETTINGS } from './settings/schema-registry.ts';
import { KAFKA_SETTINGS, KAFKA_ACCESS_SETTINGS, LOCAL_SETTINGS } from './settings/kafka.ts';
import { REDIS_ACCESS_SETTINGS, REDIS_SETTINGS } from './settings/redis.ts';
import {
  COST_SETTINGS,
  LIMITS_SETTINGS,
  CAPS_SETTINGS,
  RATE_SETTINGS,
  PRESSURE_SETTINGS,
} from './settings/limits.ts';
import type { Setting } from './types.ts';

/** All settings. The table of docs/reference/settings.md is generated from here (`sluice config --markdown`). */
export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...DOCUMENTS_SETTINGS,
  ...AUTH_SETTINGS,
  ...KAFKA_SETTINGS,
  ...KAFKA_ACCESS_SETTINGS,
  ...SCHEMA_REGISTRY_SETTINGS,
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
