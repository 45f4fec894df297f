import type { Address, RedisAccess } from '../bus/redis/access.ts';
import { readSettingFile } from '../config/config.ts';
import type { Config } from '../config/settings.ts';

/**
 * @returns undefined if no Redis is set
 * @throws SluiceError BAD_SETTINGS if a file that is named can't be read
 */
export function redisAccess(config: Config): RedisAccess | undefined {
  const { REDIS_URL: url, REDIS_CLUSTER: nodes, REDIS_SENTINELS: sentinels, REDIS_TLS: tls } = config;
  const { REDIS_SENTINEL_MASTER: master } = config;
  const credentials = {
    username: config.REDIS_USERNAME,
    password: config.REDIS_PASSWORD,
    sentinelUsername: config.REDIS_SENTINEL_USERNAME,
    sentinelPassword: config.REDIS_SENTINEL_PASSWORD,
    ca: config.REDIS_CA === undefined ? undefined : readSettingFile('REDIS_CA', config.REDIS_CA),
  };
  if (url !== undefined) return { url, credentials };
  if (nodes.length > 0) return { nodes: nodes.map(addressOf), tls, credentials };
  if (master === undefined) return undefined;
  return { sentinels: sentinels.map(addressOf), master, tls, credentials };
}

/** @param text `host:port`; an IPv6 address stands in brackets */
function addressOf(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
