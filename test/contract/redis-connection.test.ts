import { IoredisCommands, IoredisListening } from '../../src/bus/redis/ioredis.ts';
import { createLog } from '../../src/log.ts';
import { startRedis } from '../helpers/redis.ts';
import { needs } from '../helpers/services.ts';
import { testRedisConnections } from './redis-connection.ts';

testRedisConnections('ioredis', needs('redis-server'), async (t) => {
  const { url } = await startRedis(t);
  const options = { url, ca: undefined, log: createLog('silent') };
  return {
    commands: () => new IoredisCommands(options),
    listening: () => new IoredisListening(options),
  };
});
