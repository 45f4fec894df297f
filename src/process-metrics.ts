import { getHeapStatistics } from 'node:v8';
import { Gauge, type Registry } from 'prom-client';
import type { LoopUtilization } from './support/loop-utilization.ts';

/** Measured when metrics are collected. Averaged over processes, since each process has its own event loop. */
export function eventLoopUtilization(registry: Registry, utilization: LoopUtilization): Gauge {
  return new Gauge({
    name: 'sluice_event_loop_utilization',
    help: 'Share of its time in which the event loop was busy, 0 to 1, over the last 5 seconds or more',
    aggregator: 'average',
    registers: [registry],
    collect() {
      this.set(utilization.value);
    },
  });
}

/**
 * The limit of `nodejs_heap_size_used_bytes`, which prom-client does not report. Not added up over processes: a sum
 * would hide one process whose heap is full.
 */
export function heapLimit(registry: Registry): Gauge {
  return new Gauge({
    name: 'sluice_heap_limit_bytes',
    help: 'Heap size in bytes at which the process crashes',
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(getHeapStatistics().heap_size_limit);
    },
  });
}
