import { Redis } from 'ioredis';
import { eventually } from '../../test/helpers/eventually.ts';
import { startRedis, type RedisServer } from '../../test/helpers/redis.ts';
import type { Scope } from '../../test/helpers/scope.ts';

/** A Redis of the run's own, to which bad things happen. It ends with its scope. */
export class ChaosRedis {
  readonly #server: RedisServer;
  readonly #replica: RedisServer | undefined;

  private constructor(server: RedisServer, replica: RedisServer | undefined) {
    this.#server = server;
    this.#replica = replica;
  }

  /** @param keeps has its data when it starts again */
  static async start(
    scope: Scope,
    { keeps, hasReplica }: { readonly keeps: boolean; readonly hasReplica: boolean },
  ): Promise<ChaosRedis> {
    const server = await startRedis(scope, { keeps });
    const replica = hasReplica ? await startRedis(scope) : undefined;
    if (replica !== undefined) {
      await command(replica, 'REPLICAOF', '127.0.0.1', String(server.port));
      await eventually(async () => {
        const state = await command(replica, 'INFO', 'replication');
        if (!state.includes('master_link_status:up')) throw new Error(`the replica is behind: ${state}`);
      });
    }
    return new ChaosRedis(server, replica);
  }

  get url(): string {
    return this.#server.url;
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

  get #given(): RedisServer {
    if (this.#replica === undefined) throw new Error('expected a Redis with a replica, got one without');
    return this.#replica;
  }
}

async function command({ url }: RedisServer, name: string, ...args: string[]): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return String(await redis.call(name, ...args));
  } finally {
    redis.disconnect();
  }
}
