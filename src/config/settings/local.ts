import { flag, type Setting } from '../types.ts';

/** Settings for a developer’s machine without Kafka and Redis. */
export const LOCAL_SETTINGS = {
  EVENTS_FROM_ANYWHERE: flag({
    default: false,
    help: 'Without Kafka and Redis: accept `POST /events/<topic>` from any peer, not from this machine only.',
  }),
  SIMULATOR: flag({
    default: true,
    help: 'With the bundled graph and neither Kafka nor Redis: simulate events.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
