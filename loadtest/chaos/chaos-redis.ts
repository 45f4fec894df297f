import { Redis } from 'ioredis';
import { eventually } from '../../test/helpers/eventually.ts';
import { startCluster } from '../../test/helpers/redis-cluster.ts';
import { startSentinels } from '../../test/helpers/redis-sentinel.ts';
import { startRedis, type RedisServer } from '../../test/helpers/redis.ts';
import type { Scope } from '../../test/helpers/scope.ts';

/** What PTTL says of a key without an expiry. */
const NO_END = -1;

export const REDIS_KINDS = ['single', 'sentinel', 'cluster'] as const;

export type RedisKind = (typeof REDIS_KINDS)[number];

/** A Redis of the run's own, to which bad things happen where it is a single one. It ends with its scope. */
export class ChaosRedis {
  /** By which gateways find it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Those that can be written to. */
  readonly #masters: readonly Pick<RedisServer, 'url'>[];
  readonly #single: RedisServer | undefined;
  readonly #replica: RedisServer | undefined;

  private constructor(
    settings: Readonly<Record<string, string>>,
    masters: readonly Pick<RedisServer, 'url'>[],
    single?: RedisServer,
    replica?: RedisServer,
  ) {
    this.settings = settings;
    this.#masters = masters;
    this.#single = single;
    this.#replica = replica;
  }

  /** @param keeps has its data when it starts again; of a single one, as the replica */
  static async start(
    scope: Scope,
    kind: RedisKind,
    { keeps, hasReplica }: { readonly keeps: boolean; readonly hasReplica: boolean },
  ): Promise<ChaosRedis> {
    if (kind === 'sentinel') {
      const { sentinels, name, master } = await startSentinels(scope);
      const settings = { REDIS_SENTINELS: sentinels.join(','), REDIS_SENTINEL_MASTER: name };
      return new ChaosRedis(settings, [await master()]);
    }
    if (kind === 'cluster') {
      const { nodes } = await startCluster(scope);
      const masters = nodes.map((node) => ({ url: `redis://${node}` }));
      return new ChaosRedis({ REDIS_CLUSTER: nodes.join(',') }, masters);
    }
    const server = await startRedis(scope, { keeps });
    const replica = hasReplica ? await startReplica(scope, server) : undefined;
    return new ChaosRedis({ REDIS_URL: server.url }, [server], server, replica);
  }

  /** The keys that stay when nobody writes any more. */
  async lasting(): Promise<string[]> {
    const found = await Promise.all(this.#masters.map((master) => connected(master, keysWithoutEnd)));
    return found.flat();
  }

  freeze(): void {
    this.#server.signal('SIGSTOP');
  }

  thaw(): void {
    this.#server.signal('SIGCONT');
  }

  async killSubscribers(): Promise<void> {
    await command(this.#server, 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  }

  async kill(): Promise<void> {
    await this.#server.stop('SIGKILL');
  }

  async start(): Promise<void> {
    await this.#server.start();
  }

  /** The replica gets nothing more from its master. */
  async detachReplica(): Promise<void> {
    await command(this.#given, 'REPLICAOF', 'NO', 'ONE');
  }

  /** After `kill`: the replica is where the master was. */
  async failOver(): Promise<void> {
    await command(this.#given, 'CONFIG', 'SET', 'port', String(this.#server.port));
  }

  /** How often Redis has run a command, scripts included. */
  async calls(name: string): Promise<number> {
    const stats = await command(this.#server, 'INFO', 'commandstats');
    return Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
  }

  get #server(): RedisServer {
    if (this.#single === undefined) throw new Error('expected a single Redis, got several');
    return this.#single;
  }

  get #given(): RedisServer {
    if (this.#replica === undefined) throw new Error('expected a Redis with a replica, got one without');
    return this.#replica;
  }
}

/** Resolves when it has all that its master has. */
async function startReplica(scope: Scope, { port }: RedisServer): Promise<RedisServer> {
  const replica = await startRedis(scope);
  await command(replica, 'REPLICAOF', '127.0.0.1', String(port));
  await eventually(async () => {
    const state = await command(replica, 'INFO', 'replication');
    if (!state.includes('master_link_status:up')) throw new Error(`the replica is behind: ${state}`);
  });
  return replica;
}

function command(server: RedisServer, name: string, ...args: string[]): Promise<string> {
  return connected(server, async (redis) => String(await redis.call(name, ...args)));
}

async function keysWithoutEnd(redis: Redis): Promise<string[]> {
  const keys = await redis.keys('*');
  const ends = await Promise.all(keys.map((key) => redis.pttl(key)));
  return keys.filter((_, index) => ends[index] === NO_END);
}

async function connected<T>(
  { url }: Pick<RedisServer, 'url'>,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
