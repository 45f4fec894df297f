import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../../src/bus/bus.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../src/log.ts';
import { Metrics } from '../../../src/metrics.ts';
import { SIZE, testHistory, testKeepingAll, TOPIC, TTL_MS } from '../../contract/history.ts';
import { eventually, PATIENCE_MS } from '../../helpers/eventually.ts';
import { Random } from '../../helpers/random.ts';
import { VirtualTime, type Owner } from '../time/virtual-time.ts';
import { SimulatedCommandConnection } from './command-connection.ts';
import { SimulatedListeningConnection } from './listening-connection.ts';
import { Network } from './network.ts';
import { SimulatedRedis } from './server.ts';

/** The bus's own scripts, run by a simulated server whose time goes as fast as the test's. */
async function startBus(t: TestContext, keepsAll: boolean): Promise<Bus> {
  const time = new VirtualTime();
  const redis = new SimulatedRedis('redis', time);
  const network = new Network({ time, random: Random.of(1, 'network'), target: () => redis });
  const pod: Owner = { name: 'pod', state: 'running' };
  let over = false;
  const ended = time.accompany(() => over, 1);
  const bus = new RedisBus({
    commands: new SimulatedCommandConnection(network, pod),
    listening: new SimulatedListeningConnection(network, pod),
    prefix: 'history:',
    lingerMs: 0,
    countsSubscribers: true,
    histories: new Map([[TOPIC, { size: SIZE, ttlMs: TTL_MS, keepsAll }]]),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
  t.after(async () => {
    await bus.stop();
    over = true;
    await ended;
  });
  bus.start();
  await eventually(() => assert.equal(bus.notReady(), undefined));
  return bus;
}

testHistory('simulated redis', { timeout: PATIENCE_MS }, (t) => startBus(t, false));
testKeepingAll('simulated redis', { timeout: PATIENCE_MS }, (t) => startBus(t, true));
