import { integer, workers, type Setting } from '../types.ts';

/** Settings for the life of connections and processes, and for worker processes. */
export const PROCESS_SETTINGS = {
  CONNECTION_MAX_AGE_SECONDS: integer(0, 31_536_000, {
    default: 0,
    help: 'A socket is closed with 1012 at an age between four fifths of this and this; its client reconnects, maybe to a younger pod. 0: never.',
  }),
  DRAIN_DELAY_SECONDS: integer(0, 3_600, {
    default: 5,
    help: 'After SIGTERM, how long new sockets are still accepted while the pod is not ready: as long as load balancers need to notice that.',
  }),
  DRAIN_SECONDS: integer(0, 3_600, {
    default: 20,
    help: 'After that, open sockets are closed with 1012, spread over this time. A pod needs a grace period longer than both.',
  }),
  WORKERS: workers({
    default: 1,
    help: 'Processes that share the port, each a small pod; `auto`: as many as there are processors. More than one needs Kafka or Redis.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
