import { LiveHeap } from '../pressure/live-heap.ts';
import { LoopDelay } from '../pressure/loop-delay.ts';
import { Memory } from '../pressure/memory.ts';
import { PressureMonitor } from '../pressure/monitor.ts';
import type { WebSocketTransport } from '../transports/websocket/transport.ts';
import type { Basics } from './basics.ts';

/** Where heap and limit leave nothing for them, buffers still have so much room. */
const LEAST_ROOM = 32 * 2 ** 20;

interface PressurePart {
  inspect(): unknown;
  start(): void;
  stop(): void;
}

/** The part that measures what the pod holds, and has it take on less where that is too much. */
export function createPressure(
  { config, processes, pressure, metrics, log }: Basics,
  sockets: Pick<WebSocketTransport, 'copiedBytes' | 'shed'>,
): PressurePart {
  const heap = new LiveHeap();
  const memory = new Memory(config.MEMORY_LIMIT_MB, processes);
  const loop = new LoopDelay();
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
      waiting: sockets.copiedBytes / room,
      loop: loop.sample(),
    }),
    collectGarbage: () => heap.collect(),
    shed: () => sockets.shed(),
    level: pressure,
    metrics,
    log: log.child({ part: 'pressure' }),
  });
  return {
    inspect: () => (config.PRESSURE ? monitor.inspect() : null),
    start: () => {
      if (!config.PRESSURE) return;
      for (const part of [heap, loop, monitor]) part.start();
    },
    stop: () => {
      for (const part of [monitor, loop, heap]) part.stop();
    },
  };
}
