import type { Redis } from 'ioredis';
import { startCluster } from '../../test/helpers/redis-cluster.ts';
import { redisAdmin, startRedis } from '../../test/helpers/redis.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import type { Wiring } from '../targets/target.ts';
import { redisUsage, type RedisUsage } from './redis-usage.ts';

/** The Redis of one run only. It ends with its scope. */
export class GrowthRedis {
  readonly #clients: readonly Redis[];
  /** The addresses of this Redis. */
  readonly wiring: Pick<Wiring, 'redisUrl' | 'redisCluster'>;

  private constructor(clients: readonly Redis[], wiring: Pick<Wiring, 'redisUrl' | 'redisCluster'>) {
    this.#clients = clients;
    this.wiring = wiring;
  }

  /** @param masters the number of masters of a cluster; 0: a single Redis */
  static async start(scope: Scope, masters: number): Promise<GrowthRedis> {
    if (masters === 0) {
      const server = await startRedis(scope);
      return new GrowthRedis([await redisAdmin(scope, server)], { redisUrl: server.url });
    }
    const { clients, nodes } = await startCluster(scope, { masters });
    return new GrowthRedis(clients, { redisUrl: '', redisCluster: nodes.join(',') });
  }

  /** Returns the usage of each master. */
  usages(): Promise<RedisUsage[]> {
    return Promise.all(this.#clients.map((client) => redisUsage(client)));
  }
}
