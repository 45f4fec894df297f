import { systemClock } from '../../support/clock.ts';
import type { Bus } from '../bus.ts';
import type { RedisAccess } from './access.ts';
import { ClusterBus } from './cluster/cluster-bus.ts';
import { IoredisCommands, IoredisListening } from './ioredis.ts';
import { RedisBus, type RedisBusOptions } from './redis-bus.ts';
import { Sentinels } from './sentinels.ts';
import type { ConnectNode } from './cluster/node-connections.ts';
import { NodeListening } from './cluster/node-listening.ts';

interface IoredisBusOptions extends Omit<RedisBusOptions, 'commands' | 'listening'> {
  readonly access: RedisAccess;
}

/** A bus over one Redis server, which may be another one after a failover, or over a cluster. */
export function ioredisBus({ access, ...options }: IoredisBusOptions): Bus {
  if ('nodes' in access) {
    const { nodes, spread } = access;
    return new ClusterBus({ ...options, nodes, spread, connect: ioredisNodes(access) });
  }
  const { log, clock = systemClock } = options;
  const sentinels = 'sentinels' in access ? new Sentinels(access, log, clock) : undefined;
  return new RedisBus({
    ...options,
    commands: new IoredisCommands({ access, sentinels, log }),
    listening: new IoredisListening({ access, sentinels, log }),
  });
}

/** @param access of all nodes but for their addresses */
function ioredisNodes({ tls = false, credentials }: RedisAccess): ConnectNode {
  return (address, onMoved, log) => {
    const options = { access: { address, tls, ...(credentials && { credentials }) }, log };
    return {
      commands: new IoredisCommands(options),
      listening: new NodeListening({ ...options, onMoved }),
    };
  };
}
