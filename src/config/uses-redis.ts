import type { Config } from './settings.ts';

/** Where Redis is: one of these is set, or the process has no other pods. */
export type RedisPlaceSettings = Pick<Config, 'REDIS_URL' | 'REDIS_SENTINELS'>;

/** Whether events come from other pods, and go to them. */
export function usesRedis({ REDIS_URL, REDIS_SENTINELS }: RedisPlaceSettings): boolean {
  return REDIS_URL !== undefined || REDIS_SENTINELS.length > 0;
}
