import { once } from 'node:events';
import { startCluster } from './redis-cluster.ts';
import { startSentinels } from './redis-sentinel.ts';
import type { Scope } from './scope.ts';

/** The topologies that `scripts/services` starts by name. Each prints a gateway's settings and its own servers. */
const TOPOLOGIES: Record<string, (scope: Scope) => Promise<{ settings: string; runs: string }>> = {
  async 'redis-cluster'(scope) {
    const { nodes } = await startCluster(scope, { replicas: 1 });
    return {
      settings: `REDIS_CLUSTER=${nodes.join(',')}`,
      runs: `A Redis Cluster of three masters (${nodes.join(', ')}), each with a replica`,
    };
  },
  async 'redis-sentinel'(scope) {
    const { sentinels, name, master } = await startSentinels(scope);
    return {
      settings: `REDIS_SENTINELS=${sentinels.join(',')}\nREDIS_SENTINEL_MASTER=${name}`,
      runs: `Three Sentinels (${sentinels.join(', ')}) of a Redis (${(await master()).url}) with two replicas`,
    };
  },
};

/** Runs until the process is interrupted. */
const start = TOPOLOGIES[process.argv[2] ?? ''];
if (start === undefined) {
  throw new Error(`expected one of ${Object.keys(TOPOLOGIES).join(', ')}, got ${process.argv[2]}`);
}
const cleanups: (() => unknown)[] = [];
const interrupted = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
const { settings, runs } = await start({ after: (cleanup) => void cleanups.push(cleanup) });
process.stdout.write(`${settings}\n`);
process.stderr.write(`${runs}, until this is interrupted.\n`);
await interrupted;
for (const cleanup of cleanups) await cleanup();
process.exit();
