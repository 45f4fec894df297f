import { Redis } from 'ioredis';
import { RedisBus } from '../../src/bus/redis-bus.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { testBus } from './bus.ts';

testBus('redis', needs('redis'), async (t, { lingerMs }) => {
  const url = redisUrl();
  const metrics = new Metrics();
  const bus = new RedisBus({ url, ca: undefined, lingerMs, metrics, log: createLog('silent') });
  const observer = new Redis(url);
  bus.start();
  t.after(async () => {
    await bus.stop();
    observer.disconnect();
  });
  while (bus.notReady() !== undefined) await new Promise((resolve) => setImmediate(resolve));
  const joins = async (channel: string): Promise<number> => {
    const reply = await observer.pubsub('NUMSUB', channel);
    return Number(reply[1]);
  };
  return { bus, metrics, joins };
});
