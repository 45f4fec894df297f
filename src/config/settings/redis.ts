import {
  choice,
  flag,
  integer,
  optionalId,
  text,
  type Setting,
  brokers,
  optionalText,
  optionalUrl,
  texts,
} from '../types.ts';

/** Settings for the address of Redis, and for the login. */
export const REDIS_ACCESS_SETTINGS = {
  REDIS_URL: optionalUrl(['redis:', 'rediss:'], {
    default: undefined,
    secret: 'password',
    help: 'Redis that distributes events to all pods; `rediss://` for TLS. If neither this nor `REDIS_SENTINELS` nor `REDIS_CLUSTER` is set, subscribers get only the events that their own process consumes.',
  }),
  REDIS_CLUSTER: brokers({
    default: [],
    help: 'Some nodes of the Redis Cluster that distributes events, in place of `REDIS_URL`. The pods learn the other nodes from these.',
  }),
  REDIS_CLUSTER_SPREAD: texts('names of topics, separated by commas', (item) => /^[\w.-]+$/.test(item), {
    default: [],
    help: 'Topics without `history` whose channels are spread over the masters of `REDIS_CLUSTER`, each topic over twelve slots. It must be the same for all pods; change it only while no pod runs.',
  }),
  REDIS_SENTINELS: brokers({
    default: [],
    help: 'Sentinels that know the address of the Redis that distributes events, in place of `REDIS_URL`.',
  }),
  REDIS_SENTINEL_MASTER: optionalText({
    default: undefined,
    help: 'Name by which Sentinel knows the master, often `mymaster`.',
  }),
  REDIS_SENTINEL_USERNAME: optionalText({ default: undefined, help: 'User name for Sentinel.' }),
  REDIS_SENTINEL_USERNAME_FILE: optionalText({
    default: undefined,
    help: 'File with the user name for Sentinel, in place of `REDIS_SENTINEL_USERNAME`; read again as `REDIS_PASSWORD_FILE` is.',
  }),
  REDIS_SENTINEL_PASSWORD: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Password for Sentinel.',
  }),
  REDIS_SENTINEL_PASSWORD_FILE: optionalText({
    default: undefined,
    help: 'File with the password for Sentinel, in place of `REDIS_SENTINEL_PASSWORD`; read again as `REDIS_PASSWORD_FILE` is.',
  }),
  REDIS_USERNAME: optionalText({
    default: undefined,
    help: 'User name for Redis, where `REDIS_URL` has none.',
  }),
  REDIS_USERNAME_FILE: optionalText({
    default: undefined,
    help: 'File with the user name for Redis, in place of `REDIS_USERNAME`; read again as `REDIS_PASSWORD_FILE` is.',
  }),
  REDIS_PASSWORD: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Password for Redis, where `REDIS_URL` has none.',
  }),
  REDIS_PASSWORD_FILE: optionalText({
    default: undefined,
    help: 'File with the password for Redis, in place of `REDIS_PASSWORD`. It is read again whenever a pod connects, as are the files of certificates.',
  }),
  REDIS_TLS: flag({
    default: false,
    help: 'With `REDIS_SENTINELS` and `REDIS_CLUSTER`: connect to Redis, and Sentinel, over TLS.',
  }),
  REDIS_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed Redis's certificate, and Sentinel's (PEM).",
  }),
  REDIS_CERT: optionalText({
    default: undefined,
    help: 'File with the certificate that a pod shows to Redis, and Sentinel (PEM).',
  }),
  REDIS_KEY: optionalText({
    default: undefined,
    help: 'File with the key of `REDIS_CERT` (PEM, not encrypted).',
  }),
} as const satisfies Record<string, Setting<unknown>>;

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
