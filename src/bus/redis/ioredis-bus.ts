import type { Bus } from '../bus.ts';
import type { RedisAccess } from './access.ts';
import { ClusterBus } from './cluster/cluster-bus.ts';
import { IoredisCommands, IoredisListening } from './ioredis.ts';
import { RedisBus, type RedisBusOptions } from './redis-bus.ts';
import { SentinelWatch } from './sentinel-watch.ts';

interface IoredisBusOptions extends Omit<RedisBusOptions, 'commands' | 'listening'> {
  readonly access: RedisAccess;
}

/** A bus over one Redis server, which may be another one after a failover, or over a cluster. */
export function ioredisBus({ access, ...options }: IoredisBusOptions): Bus {
  if ('nodes' in access) return new ClusterBus({ ...options, access });
  const { log } = options;
  const watch = 'sentinels' in access ? new SentinelWatch(access, log) : undefined;
  return new RedisBus({
    ...options,
    commands: new IoredisCommands({ access, watch, log }),
    listening: new IoredisListening({ access, watch, log }),
  });
}
