import { getHeapStatistics } from 'node:v8';
import type { KafkaSourceState } from '../../ingest/kafka/state.ts';
import { sendJson } from '../respond.ts';
import type { Handle } from '../router.ts';

/** What `/debug/process` shows. */
export interface ProcessInspectable {
  readonly kafka: { inspect(): KafkaSourceState } | undefined;
  readonly pressure: { inspect(): unknown };
  readonly connections: {
    readonly size: number;
    readonly handshakes: { readonly size: number };
    readonly pod: { readonly operations: number };
  };
  readonly hub: { readonly groups: { readonly size: number }; readonly channels: { readonly size: number } };
}

/** `/debug/process`: what one process holds, in a few figures. */
export function processState({ kafka, pressure, connections, hub }: ProcessInspectable): Handle {
  return (_request, response) => {
    const { rss, heapUsed, external } = process.memoryUsage();
    const state = {
      pid: process.pid,
      node: process.versions.node,
      uptimeSeconds: Math.round(process.uptime()),
      memory: {
        residentBytes: rss,
        heapUsedBytes: heapUsed,
        heapLimitBytes: getHeapStatistics().heap_size_limit,
        externalBytes: external,
      },
      pressure: pressure.inspect(),
      connections: connections.size,
      handshakes: connections.handshakes.size,
      operations: connections.pod.operations,
      groups: hub.groups.size,
      channels: hub.channels.size,
      kafka: kafka === undefined ? null : consumption(kafka.inspect()),
    };
    sendJson(response, 200, state, { 'cache-control': 'no-store' });
  };
}

function consumption({ connected, lastError, partitions }: KafkaSourceState): object {
  let [lag, lagSeconds, notConsuming] = [0, 0, 0];
  for (const partition of partitions) {
    lag += partition.lag ?? 0;
    lagSeconds = Math.max(lagSeconds, partition.lagSeconds ?? 0);
    if (partition.state !== 'consuming') notConsuming += 1;
  }
  return {
    connected,
    lastError: lastError ?? null,
    partitions: partitions.length,
    notConsuming,
    lag,
    lagSeconds,
  };
}
