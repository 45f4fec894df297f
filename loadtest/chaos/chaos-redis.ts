import { Redis } from 'ioredis';
import { eventually } from '../../test/helpers/eventually.ts';
import { startCluster } from '../../test/helpers/redis-cluster.ts';
import { startSentinels } from '../../test/helpers/redis-sentinel.ts';
import { startRedis, type RedisServer } from '../../test/helpers/redis.ts';
import type { Scope } from '../../test/helpers/scope.ts';

/** PTTL's answer for a key without an expiry. */
const NO_END = -1;

export const REDIS_KINDS = ['single', 'sentinel', 'cluster'] as const;

export type RedisKind = (typeof REDIS_KINDS)[number];

/** A Redis of the run's own, which the scenarios break. It ends with its scope. */
export class ChaosRedis {
  /** The settings by which gateways find this Redis. */
  readonly settings: Readonly<Record<string, string>>;
  /** The masters at the start. A fault happens to all of them. */
  readonly #masters: readonly RedisServer[];
  readonly #replica: RedisServer | undefined;

  private constructor(
    settings: Readonly<Record<string, string>>,
    masters: readonly RedisServer[],
    replica?: RedisServer,
  ) {
    this.settings = settings;
    this.#masters = masters;
    this.#replica = replica;
  }

  /** @param keeps Redis has its data when it starts again @param hasReplica adds a replica, to a single Redis only */
  static async start(
    scope: Scope,
    kind: RedisKind,
    { keeps, hasReplica }: { readonly keeps: boolean; readonly hasReplica: boolean },
  ): Promise<ChaosRedis> {
    if (kind === 'sentinel') {
      const { sentinels, name, master } = await startSentinels(scope, { keeps });
      const settings = { REDIS_SENTINELS: sentinels.join(','), REDIS_SENTINEL_MASTER: name };
      return new ChaosRedis(settings, [await master()]);
    }
    if (kind === 'cluster') {
      const { nodes, masters } = await startCluster(scope, { keeps });
      return new ChaosRedis({ REDIS_CLUSTER: nodes.join(',') }, masters);
    }
    const server = await startRedis(scope, { keeps });
    const replica = hasReplica ? await startReplica(scope, server) : undefined;
    return new ChaosRedis({ REDIS_URL: server.url }, [server], replica);
  }

  /** Returns the keys without an expiry. */
  async lasting(): Promise<string[]> {
    const found = await Promise.all(this.#masters.map((master) => connected(master, keysWithoutEnd)));
    return found.flat();
  }

  freeze(): void {
    for (const master of this.#masters) master.signal('SIGSTOP');
  }

  thaw(): void {
    for (const master of this.#masters) master.signal('SIGCONT');
  }

  async killSubscribers(): Promise<void> {
    await Promise.all(this.#masters.map((master) => command(master, 'CLIENT', 'KILL', 'TYPE', 'pubsub')));
  }

  async kill(): Promise<void> {
    await Promise.all(this.#masters.map((master) => master.stop('SIGKILL')));
  }

  async start(): Promise<void> {
    await Promise.all(this.#masters.map((master) => master.start()));
  }

  /** The replica gets nothing more from its master. */
  async detachReplica(): Promise<void> {
    await command(this.#given, 'REPLICAOF', 'NO', 'ONE');
  }

  /** To be called after `kill`: the replica takes over the master's port. */
  async failOver(): Promise<void> {
    await command(this.#given, 'CONFIG', 'SET', 'port', String(this.#single.port));
  }

  /** How often Redis has run a command, scripts included. */
  async calls(name: string): Promise<number> {
    const stats = await command(this.#single, 'INFO', 'commandstats');
    return Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
  }

  get #single(): RedisServer {
    const [first, second] = this.#masters;
    if (first === undefined || second !== undefined)
      throw new Error(`expected a single Redis, got ${this.#masters.length}`);
    return first;
  }

  get #given(): RedisServer {
    if (this.#replica === undefined) throw new Error('expected a Redis with a replica, got one without');
    return this.#replica;
  }
}

/** Resolves when the replica has all that its master has. */
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
