import type { Config } from './settings.ts';

/** Where Redis is: one of these is set, or the process has no other pods. */
export type RedisPlaceSettings = Pick<Config, 'REDIS_URL' | 'REDIS_SENTINELS' | 'REDIS_CLUSTER'>;

/** Whether events come from other pods, and go to them. */
export function usesRedis({ REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER }: RedisPlaceSettings): boolean {
  return REDIS_URL !== undefined || REDIS_SENTINELS.length > 0 || REDIS_CLUSTER.length > 0;
}
