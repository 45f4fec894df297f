import type { RedisAccess } from '../access.ts';
import { IoredisCommands } from '../ioredis.ts';
import type { ConnectNode } from './node-connections.ts';
import { NodeListening } from './node-listening.ts';

/** @param access of all nodes but for their addresses */
export function ioredisNodes({ tls = false, credentials }: RedisAccess): ConnectNode {
  return (address, onMoved, log) => {
    const options = { access: { address, tls, ...(credentials && { credentials }) }, log };
    return {
      commands: new IoredisCommands(options),
      listening: new NodeListening({ ...options, onMoved }),
    };
  };
}
