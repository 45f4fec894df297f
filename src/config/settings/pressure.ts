import { flag, integer, type Setting } from '../types.ts';

/** Thresholds at which a pod takes less work on, and gives some up, so that it is not killed for its memory. */
export const PRESSURE_SETTINGS = {
  PRESSURE: flag({
    default: true,
    help: 'Measure heap, memory, event-loop delay and bytes that wait for sockets, and act before a limit is reached: refuse, then pause, then shed.',
  }),
  PRESSURE_REFUSE_PERCENT: integer(1, 100, {
    default: 75,
    help: 'From this share of a limit on, the pod is not ready, and refuses new WebSockets with 503.',
  }),
  PRESSURE_PAUSE_PERCENT: integer(1, 100, {
    default: 80,
    help: 'From this share on it consumes nothing, for 30 seconds at most, and `POST /events` answers 503.',
  }),
  PRESSURE_SHED_PERCENT: integer(1, 100, {
    default: 85,
    help: 'From this share on it closes the sockets for which most bytes wait, some at a time, with 1013.',
  }),
  MEMORY_LIMIT_MB: integer(0, 16_777_216, {
    default: 0,
    help: "Memory that the pod may use, all workers together. 0: the container's limit, or else the machine's memory.",
  }),
} as const satisfies Record<string, Setting<unknown>>;
