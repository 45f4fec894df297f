import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeListening } from '../../src/bus/redis/cluster/node-listening.ts';
import { CHANNELS_PER_COMMAND, IoredisCommands, IoredisListening } from '../../src/bus/redis/ioredis.ts';
import { createLog } from '../../src/log.ts';
import { upTo } from '../helpers/numbers.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { needs } from '../helpers/services.ts';
import { testRedisConnections, type MakeRedis } from './redis-connection.ts';
import { testRedisScripts } from './redis-scripts.ts';

const OPTIONS = needs('redis-server');

const make: MakeRedis = async (t) => {
  const { url } = await startRedis(t);
  const options = { access: { url }, log: createLog('silent') };
  return {
    commands: () => new IoredisCommands(options),
    listening: () => new IoredisListening(options),
  };
};

testRedisConnections('ioredis', OPTIONS, make);
testRedisScripts('ioredis', OPTIONS, make);

test(
  'a node of a cluster: a channel that is left while many are joined is not joined afterwards',
  OPTIONS,
  async (t) => {
    const server = await startRedis(t);
    const admin = await redisAdmin(t, server);
    const options = { access: { url: server.url }, log: createLog('silent'), onMoved: () => undefined };
    const listening = new NodeListening(options);
    t.after(() => listening.stop());
    await new Promise<void>((resolve) => listening.start({ onReady: resolve, onLost: () => undefined }));
    const channels = upTo(CHANNELS_PER_COMMAND + 2).map((n) => `c${n}`);
    const [left = '', kept = ''] = channels.slice(CHANNELS_PER_COMMAND);
    const joining = listening.join(new Map(channels.map((channel) => [channel, () => undefined])));
    listening.leave(left);
    await joining;
    assert.deepEqual(await admin.pubsub('SHARDNUMSUB', left, kept), [left, 0, kept, 1]);
  },
);
