import { LiveHeap } from '../pressure/live-heap.ts';
import { LoopDelay } from '../pressure/loop-delay.ts';
import { LEAST_ROOM, Memory } from '../pressure/memory.ts';
import { PressureMonitor } from '../pressure/monitor.ts';
import type { Connections } from '../transports/connections/connections.ts';
import type { Config } from '../config/settings.ts';
import type { Log } from '../log.ts';
import type { Basics } from './basics.ts';

interface PressurePart {
  inspect(): unknown;
  start(): void;
  stop(): void;
}

/** Creates the part that measures how much the pod holds, and reduces its work if that is too much. */
export function createPressure(
  { config, processes, pressure, metrics, log }: Basics,
  connections: Pick<Connections, 'copiedBytes' | 'shed'>,
): PressurePart {
  const heap = new LiveHeap();
  const memory = new Memory(config.MEMORY_LIMIT_MB, processes);
  const loop = new LoopDelay();
  // If heap and limit leave no room for buffers, buffers still get some.
  const room = Math.max(LEAST_ROOM, memory.limit - heap.limit);
  const monitor = new PressureMonitor({
    thresholds: [
      config.PRESSURE_REFUSE_PERCENT / 100,
      config.PRESSURE_PAUSE_PERCENT / 100,
      config.PRESSURE_SHED_PERCENT / 100,
    ],
    sample: () => ({
      heap: heap.live / heap.limit,
      ...memory.sample(),
      waiting: connections.copiedBytes / room,
      loop: loop.sample(),
    }),
    collectGarbage: () => heap.collect(),
    shed: () => connections.shed(),
    level: pressure,
    metrics,
    log: log.child({ part: 'pressure' }),
  });
  return {
    inspect: () => (config.PRESSURE ? monitor.inspect() : null),
    start: () => {
      if (!config.PRESSURE) return;
      warnOfShortage(memory, config, log);
      for (const part of [heap, loop, monitor]) part.start();
    },
    stop: () => {
      for (const part of [monitor, loop, heap]) part.stop();
    },
  };
}

const mb = (bytes: number): number => Math.ceil(bytes / 2 ** 20);

/** Warns of too little memory. Such a pod is under pressure from its start, and admits no client. */
function warnOfShortage(
  memory: Memory,
  { PRESSURE_REFUSE_PERCENT, MEMORY_LIMIT_MB }: Config,
  log: Log,
): void {
  const shortage = memory.shortage(PRESSURE_REFUSE_PERCENT / 100);
  if (shortage === undefined) return;
  const name = MEMORY_LIMIT_MB > 0 ? 'MEMORY_LIMIT_MB' : 'the memory limit of the container';
  log.warn(
    `${name}: expected at least ${mb(shortage.least)} MB for each process, as this one takes ${mb(shortage.held)} MB at its start, got ${mb(memory.limit)} MB: it may never be ready`,
  );
}
