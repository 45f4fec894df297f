import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../../src/bus/bus.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../src/log.ts';
import { Metrics } from '../../../src/metrics.ts';
import { testDeletions } from '../../contract/deletions.ts';
import { SIZE, testHistory, testKeepingAll, TOPIC } from '../../contract/history.ts';
import { testRedisConnections } from '../../contract/redis-connection.ts';
import { testRedisScripts } from '../../contract/redis-scripts.ts';
import { eventually, PATIENCE_MS } from '../../helpers/eventually.ts';
import { Random } from '../../helpers/random.ts';
import { simulatedClock } from '../time/simulated-clock.ts';
import { VirtualTime, type Owner } from '../time/virtual-time.ts';
import { SimulatedCommandConnection } from './command-connection.ts';
import { SimulatedListeningConnection } from './listening-connection.ts';
import { Network } from './network.ts';
import { SimulatedRedis } from './server.ts';

/** Starts a server whose time runs faster than the test's by this factor, and a network to it. */
function startServer(speed: number) {
  const time = new VirtualTime();
  const redis = new SimulatedRedis('redis', time);
  const network = new Network({ time, random: Random.of(1, 'network'), target: () => redis });
  const pod: Owner = { name: 'pod', state: 'running' };
  let over = false;
  const ended = time.accompany(() => over, speed);
  return {
    time,
    commands: () => new SimulatedCommandConnection(network, pod),
    listening: () => new SimulatedListeningConnection(network, pod),
    stop: () => {
      over = true;
      return ended;
    },
  };
}

const make = async (t: TestContext) => {
  const server = startServer(10);
  t.after(server.stop);
  return server;
};

const SPEED = 5;

/** How long a channel is kept, in the time of the test. */
const ENDS_MS = 400;

/** Starts a bus with its own scripts on a simulated server. */
async function startBus(t: TestContext, ttlMs: number, keepsAll: boolean): Promise<Bus> {
  const server = startServer(SPEED);
  const bus = new RedisBus({
    commands: server.commands(),
    listening: server.listening(),
    prefix: 'history:',
    lingerMs: 0,
    countsSubscribers: true,
    histories: new Map([[TOPIC, { size: SIZE, ttlMs: SPEED * ttlMs, keepsAll }]]),
    clock: simulatedClock(server.time, Random.of(1, 'clock')),
    metrics: new Metrics(),
    log: createLog('silent'),
  });
  t.after(async () => {
    await bus.stop();
    await server.stop();
  });
  bus.start();
  await eventually(() => assert.equal(bus.notReady(), undefined));
  return bus;
}

const options = { timeout: PATIENCE_MS };
testRedisConnections('simulated redis', options, make);
testRedisScripts('simulated redis', options, make);
testHistory('simulated redis', options, (t, ttlMs) => startBus(t, ttlMs, false), ENDS_MS);
testDeletions('simulated redis', options, (t, ttlMs) => startBus(t, ttlMs, false));
testKeepingAll('simulated redis', options, (t, ttlMs) => startBus(t, ttlMs, true), ENDS_MS);
