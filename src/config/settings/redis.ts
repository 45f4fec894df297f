import { choice, flag, integer, optionalId, text, type Setting } from '../types.ts';

/** Settings for the way of events to all pods, and for events that may have been missed. */
export const REDIS_SETTINGS = {
  REDIS_PREFIX: text({ default: 'sluice:', help: 'Prefix of the names of all Redis channels and keys.' }),
  BUS_ID: optionalId({
    default: undefined,
    help: 'Id by which pods that share this Redis keep others [out of their consumer group](../operations/redis.md#whose-consumer-group-it-is). Not set: Redis keeps one that the first pod makes up.',
  }),
  SKIP_UNSUBSCRIBED: flag({
    default: true,
    help: 'Ask Redis which channels have subscribers, and neither transform nor publish events for the others. Set it to false if Redis is behind a proxy that does not count all subscribers.',
  }),
  CHANNEL_LINGER_MS: integer(0, 600_000, {
    default: 5_000,
    help: 'How long a pod stays subscribed to a channel after its last subscriber left.',
  }),
  ON_GAP: choice(['close', 'tell', 'ignore'], {
    default: 'close',
    help: 'What happens when subscribers of a topic may have missed events. `close`: clients that asked for it are told; sockets of the others are closed with 1012, so that they reconnect and fetch again. `tell`: all clients are told. `ignore`: it is only counted.',
  }),
  GAP_CLOSE_PER_SECOND: integer(1, 100_000, {
    default: 100,
    help: 'Most sockets that a pod closes in a second for `ON_GAP=close`, so that clients which fetch again do not overload back ends.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
