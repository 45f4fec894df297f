import type { Address, RedisAccess, RedisCredentials } from '../bus/redis/access.ts';
import { readSettingFile } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

type Password = 'REDIS_PASSWORD' | 'REDIS_SENTINEL_PASSWORD';

/**
 * @returns undefined if no Redis is set
 * @throws SluiceError BAD_SETTINGS if a file that is named can't be read
 */
export function redisAccess(config: Config, log: Log): RedisAccess | undefined {
  const { REDIS_URL: url, REDIS_CLUSTER: nodes, REDIS_SENTINELS: sentinels, REDIS_TLS: tls } = config;
  const { REDIS_SENTINEL_MASTER: master } = config;
  const credentials = readAgain(() => credentialsOf(config), log);
  if (url !== undefined) return { url, credentials };
  if (nodes.length > 0) {
    const spread = new Set(config.REDIS_CLUSTER_SPREAD);
    return { nodes: nodes.map(addressOf), spread, tls, credentials };
  }
  if (master === undefined) return undefined;
  return { sentinels: sentinels.map(addressOf), master, tls, credentials };
}

/** @returns what `read` gives whenever it is called, or gave last where it fails: files are replaced while pods run */
function readAgain<T>(read: () => T, log: Log): () => T {
  let last = read();
  let told: string | undefined;
  return () => {
    try {
      last = read();
      told = undefined;
    } catch (thrown) {
      const reason = messageOf(thrown);
      if (reason !== told) log.warn({ reason }, 'connecting to Redis with what was read before');
      told = reason;
    }
    return last;
  };
}

function credentialsOf(config: Config): RedisCredentials {
  const fileOf = (name: 'REDIS_CA' | 'REDIS_CERT' | 'REDIS_KEY' | `${Password}_FILE`) => {
    const file = config[name];
    return file === undefined ? undefined : readSettingFile(name, file);
  };
  const passwordOf = (name: Password) => fileOf(`${name}_FILE`)?.replace(/[\r\n]+$/, '') ?? config[name];
  return {
    username: config.REDIS_USERNAME,
    password: passwordOf('REDIS_PASSWORD'),
    sentinelUsername: config.REDIS_SENTINEL_USERNAME,
    sentinelPassword: passwordOf('REDIS_SENTINEL_PASSWORD'),
    ca: fileOf('REDIS_CA'),
    cert: fileOf('REDIS_CERT'),
    key: fileOf('REDIS_KEY'),
  };
}

/** @param text `host:port`; an IPv6 address stands in brackets */
function addressOf(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
