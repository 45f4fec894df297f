import { testRedisConnections, type MakeRedis } from '../../contract/redis-connection.ts';
import { testRedisScripts } from '../../contract/redis-scripts.ts';
import { PATIENCE_MS } from '../../helpers/eventually.ts';
import { Random } from '../../helpers/random.ts';
import { VirtualTime, type Owner } from '../time/virtual-time.ts';
import { SimulatedCommandConnection } from './command-connection.ts';
import { SimulatedListeningConnection } from './listening-connection.ts';
import { Network } from './network.ts';
import { SimulatedRedis } from './server.ts';

const make: MakeRedis = async (t) => {
  const time = new VirtualTime();
  const redis = new SimulatedRedis('redis', time);
  const network = new Network({ time, random: Random.of(1, 'network'), target: () => redis });
  const pod: Owner = { name: 'pod', state: 'running' };
  let over = false;
  const ended = time.accompany(() => over, 10);
  t.after(() => {
    over = true;
    return ended;
  });
  return {
    commands: () => new SimulatedCommandConnection(network, pod),
    listening: () => new SimulatedListeningConnection(network, pod),
  };
};

testRedisConnections('simulated redis', { timeout: PATIENCE_MS }, make);
testRedisScripts('simulated redis', { timeout: PATIENCE_MS }, make);
