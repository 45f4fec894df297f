import type { Bus } from '../bus/bus.ts';
import { MemoryBus } from '../bus/memory-bus.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import type { Graph } from '../graph/graph.ts';
import type { Basics } from './basics.ts';
import { shareOf } from './pod-share.ts';
import { createSecureContext } from 'node:tls';
import type { Address, RedisAccess, RedisCredentials } from '../bus/redis/access.ts';
import { readSettingFile } from '../config/config.ts';
import { certificateIn, secretIn, tryOut } from '../config/credential-files.ts';
import type { Config } from '../config/settings.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

/** How much history the bus keeps, for each stream with history in the graph. */
export function historiesOf({ streams }: Pick<Graph, 'streams'>): ReadonlyMap<string, HistorySettings> {
  const kept = [...streams.values()].flatMap(({ name, history }) =>
    history ? [[name, history] as const] : [],
  );
  return new Map(kept);
}

/** Loads the Redis client only if Redis is set: a gateway without Redis starts faster. */
export async function createBus(
  { config, processes, budget, metrics, log }: Basics,
  graph: Pick<Graph, 'streams'>,
): Promise<Bus> {
  const common = {
    lingerMs: config.CHANNEL_LINGER_MS,
    maxChannels: shareOf(config.MAX_CHANNELS_PER_POD, processes),
    histories: historiesOf(graph),
    metrics,
    log: log.child({ part: 'bus' }),
  };
  const access = redisAccess(config, common.log);
  if (access === undefined) return new MemoryBus(common);
  const { ioredisBus } = await import('../bus/redis/ioredis-bus.ts');
  return ioredisBus({
    ...common,
    access,
    prefix: config.REDIS_PREFIX,
    missedRoom: budget.missed,
    countsSubscribers: config.SKIP_UNSUBSCRIBED,
  });
}

type Login = 'REDIS_USERNAME' | 'REDIS_PASSWORD' | 'REDIS_SENTINEL_USERNAME' | 'REDIS_SENTINEL_PASSWORD';

/**
 * @returns undefined if no Redis is set
 * @throws SluiceError BAD_SETTINGS if a named file does not have the expected content
 */
function redisAccess(config: Config, log: Log): RedisAccess | undefined {
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

/** @returns calls `read` each time, and gives its last result if it fails: files are replaced while pods run */
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

/** @throws SluiceError BAD_SETTINGS: with a certificate that Node.js refuses, ioredis would give up for good */
function credentialsOf(config: Config): RedisCredentials {
  const certificateOf = (name: 'REDIS_CA' | 'REDIS_CERT') => {
    const file = config[name];
    return file === undefined ? undefined : certificateIn(name, file);
  };
  const loginOf = (name: Login) => {
    const file = config[`${name}_FILE`];
    return file === undefined ? config[name] : secretIn(`${name}_FILE`, file);
  };
  const cert = certificateOf('REDIS_CERT');
  const { REDIS_KEY: keyFile } = config;
  const key = keyFile === undefined ? undefined : readSettingFile('REDIS_KEY', keyFile);
  if (cert !== undefined && key !== undefined) {
    tryOut(
      () => createSecureContext({ cert, key }),
      `REDIS_KEY: expected a file with the key of REDIS_CERT as PEM, not encrypted, got ${keyFile}`,
    );
  }
  return {
    username: loginOf('REDIS_USERNAME'),
    password: loginOf('REDIS_PASSWORD'),
    sentinelUsername: loginOf('REDIS_SENTINEL_USERNAME'),
    sentinelPassword: loginOf('REDIS_SENTINEL_PASSWORD'),
    ca: certificateOf('REDIS_CA'),
    cert,
    key,
  };
}

/** @param text `host:port`; an IPv6 address stands in brackets */
function addressOf(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
