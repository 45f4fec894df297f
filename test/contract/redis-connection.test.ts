import { IoredisCommands, IoredisListening } from '../../src/bus/redis/ioredis.ts';
import { createLog } from '../../src/log.ts';
import { startRedis } from '../helpers/redis.ts';
import { needs } from '../helpers/services.ts';
import { testRedisConnections, type MakeRedis } from './redis-connection.ts';
import { testRedisScripts } from './redis-scripts.ts';

const make: MakeRedis = async (t) => {
  const { url } = await startRedis(t);
  const options = { access: { url }, log: createLog('silent') };
  return {
    commands: () => new IoredisCommands(options),
    listening: () => new IoredisListening(options),
  };
};

testRedisConnections('ioredis', needs('redis-server'), make);
testRedisScripts('ioredis', needs('redis-server'), make);
