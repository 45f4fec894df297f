import { readFileSync } from 'node:fs';
import {
  brokers,
  choice,
  flag,
  integer,
  optionalChoice,
  optionalText,
  optionalUrl,
  origins,
  port,
  text,
  workers,
  type Setting,
} from './config-types.ts';
import { messageOf, SluiceError } from './errors.ts';

/** All settings. The table of docs/reference/settings.md is generated from here (`sluice config --markdown`). */
const SETTINGS = {
  GRAPH: text({
    default: 'examples/auction',
    help: 'Folder of the graph: `schema.graphql` and, if it needs code, `graph.ts` or `graph.js`.',
  }),
  PORT: port({ default: 4000, help: 'Port for browsers: GraphQL over WebSocket and POST at `/graphql`.' }),
  ADMIN_PORT: port({
    default: 4001,
    help: 'Port for Kubernetes and Prometheus: `/livez`, `/readyz`, `/metrics`; and `/debug/`, for this machine only.',
  }),
  GRAPHIQL: flag({ default: true, help: 'Serve GraphiQL to browsers at `/`.' }),
  ORIGINS: origins({
    default: [],
    help: "Origins whose pages may connect. Not set: only pages of the gateway's own host.",
  }),
  LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    help: 'Lowest level that is logged.',
  }),

  KAFKA_BROKERS: brokers({
    default: [],
    help: 'Kafka brokers to connect to first. Not set: this process consumes nothing.',
  }),
  KAFKA_GROUP_ID: text({
    default: 'sluice',
    help: 'Consumer group that all pods join. Without `REDIS_URL` each process has a group of its own, whose name begins with this.',
  }),
  KAFKA_START: choice(['committed', 'latest'], {
    default: 'committed',
    help: 'Where the first pod of a group begins to consume: at the committed offsets, or at the end of each partition, which skips messages sent while no pod ran.',
  }),
  KAFKA_TLS: flag({ default: false, help: 'Connect to Kafka over TLS.' }),
  KAFKA_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed the brokers' certificates (PEM).",
  }),
  KAFKA_SASL_MECHANISM: optionalChoice(['plain', 'scram-sha-256', 'scram-sha-512'], {
    default: undefined,
    help: 'SASL mechanism of the connection to Kafka.',
  }),
  KAFKA_SASL_USERNAME: optionalText({ default: undefined, help: 'User name for Kafka.' }),
  KAFKA_SASL_PASSWORD: optionalText({ default: undefined, secret: 'all', help: 'Password for Kafka.' }),
  KAFKA_BAD_BATCH: choice(['stop', 'skip'], {
    default: 'stop',
    help: 'What a record batch that can’t be decoded (damaged, or of an unknown codec) does: stop its partition until it can be decoded, or be skipped. Other partitions go on.',
  }),
  KAFKA_SESSION_SECONDS: integer(6, 300, {
    default: 10,
    help: 'A pod that Kafka has not heard of for so long loses its partitions: as long do those of a killed pod stand still. A heap snapshot must not take longer.',
  }),
  DEAD_LETTER_TOPIC: optionalText({
    default: undefined,
    help: 'Kafka topic for messages that could not be decoded, with the reason in headers.',
  }),
  EVENT_MAX_AGE_SECONDS: integer(0, 31_536_000, {
    default: 0,
    help: 'Skip and count events that are older than this by their Kafka timestamps. 0: events of any age are published.',
  }),

  REDIS_URL: optionalUrl(['redis:', 'rediss:'], {
    default: undefined,
    secret: 'password',
    help: 'Redis that distributes events to all pods; `rediss://` for TLS. Not set: subscribers get only events that their own process consumes.',
  }),
  REDIS_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed Redis's certificate (PEM).",
  }),
  REDIS_PREFIX: text({ default: 'sluice:', help: 'Prefix of the names of all Redis channels and keys.' }),
  SKIP_UNSUBSCRIBED: flag({
    default: true,
    help: 'Ask Redis which channels have subscribers, and neither transform nor publish events for the others. Set it to false where what `REDIS_URL` leads to does not count all subscribers, as behind some proxies.',
  }),
  CHANNEL_LINGER_MS: integer(0, 600_000, {
    default: 5_000,
    help: 'How long a pod stays subscribed to a channel after its last subscriber left.',
  }),

  ON_GAP: choice(['close', 'tell', 'ignore'], {
    default: 'close',
    help: 'What happens when subscribers of a topic may have missed events: sockets of clients that did not ask to be told are closed with 1012, so that they connect and fetch again; or all clients are told; or neither, and it is only counted.',
  }),
  GAP_CLOSE_PER_SECOND: integer(1, 100_000, {
    default: 100,
    help: 'Most sockets that a pod closes in a second for `ON_GAP=close`, so that clients which fetch again do not overload back ends.',
  }),

  MAX_CHANNELS: integer(1, 10_000, {
    default: 100,
    help: 'Most channels that one subscription may listen to.',
  }),
  MAX_WAITING_EVENTS: integer(1, 100_000, {
    default: 100,
    help: 'Most events of one group that may wait for asynchronous resolvers at once; further events are skipped and counted, and the subscribers get an error.',
  }),
  EXECUTE_CONCURRENCY: integer(1, 1_000_000, {
    default: 200,
    help: 'Most asynchronous executions that run at once in a pod; the others wait their turn.',
  }),
  EXECUTE_TIMEOUT_MS: integer(1, 3_600_000, {
    default: 10_000,
    help: 'How long an asynchronous execution, or `authenticate`, may take; then its subscribers get an error instead, or the connection is refused.',
  }),
  DOCUMENT_CACHE_SIZE: integer(1, 1_000_000, {
    default: 1_000,
    help: 'Number of parsed and validated documents kept.',
  }),
  MAX_OPERATIONS: integer(1, 1_000_000, {
    default: 200,
    help: 'Most subscriptions and queries that one connection may have at once; one more is refused.',
  }),
  MAX_PAYLOAD_BYTES: integer(1_024, 16_777_216, {
    default: 65_536,
    help: 'Largest WebSocket message or POST body accepted from a client.',
  }),
  SOCKET_BUFFER_BYTES: integer(16_384, 1_073_741_824, {
    default: 1_048_576,
    help: 'Bytes that may wait for one slow socket before it is closed with 1013.',
  }),
  INIT_TIMEOUT_MS: integer(1, 600_000, {
    default: 3_000,
    help: 'Time that a client has to send `connection_init` before its connection is closed with 4408.',
  }),
  PING_SECONDS: integer(0, 3_600, {
    default: 25,
    help: 'Interval between pings to each socket; a socket that has not answered the last ping is terminated. 0: no pings.',
  }),

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

  EVENTS_FROM_ANYWHERE: flag({
    default: false,
    help: 'Without Kafka and Redis: accept `POST /events/<topic>` from any peer, not from this machine only.',
  }),
  SIMULATOR: flag({
    default: true,
    help: 'With the bundled graph and neither Kafka nor Redis: simulate events.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

type Settings = typeof SETTINGS;

export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never;
};

/**
 * Reads all settings from the environment; an empty variable counts as not set.
 *
 * @returns the settings, frozen
 * @throws SluiceError BAD_SETTINGS: one message that lists, for each fault, what was expected and what came
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
    // Files that become variables, as Kubernetes' secrets do, often end with a newline.
    const given = env[name]?.replace(/[\r\n]+$/, '');
    if (given === undefined || given === '') return [name, setting.default];
    const value = setting.parse(given);
    if (value === undefined)
      faults.push(`  ${name}: expected ${setting.expected}, got ${shown(setting, given)}`);
    return [name, value];
  });
  const config = Object.freeze(Object.fromEntries(entries)) as Config;
  if (faults.length === 0) faults.push(...contradictions(config));
  if (faults.length > 0) {
    throw new SluiceError('BAD_SETTINGS', `these settings can't be used:\n${faults.join('\n')}`);
  }
  return config;
}

/**
 * Reads the file that a setting names.
 *
 * @throws SluiceError BAD_SETTINGS if it can't be read
 */
export function readSettingFile(setting: keyof Config, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const message = `${setting}: expected a file that can be read, got ${file}: ${messageOf(cause)}`;
    throw new SluiceError('BAD_SETTINGS', message, { cause });
  }
}

/** Faults of settings that are valid alone, but not together. */
function contradictions(config: Config): string[] {
  const faults: string[] = [];
  const mechanism = config.KAFKA_SASL_MECHANISM;
  for (const name of ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const) {
    if (mechanism !== undefined && config[name] === undefined) {
      faults.push(`  ${name}: expected text, as KAFKA_SASL_MECHANISM is ${mechanism}, got nothing`);
    }
    if (mechanism === undefined && config[name] !== undefined) {
      faults.push(
        `  KAFKA_SASL_MECHANISM: expected ${SETTINGS.KAFKA_SASL_MECHANISM.expected}, as ${name} is set, got nothing`,
      );
    }
  }
  if (config.KAFKA_CA !== undefined && !config.KAFKA_TLS) {
    faults.push('  KAFKA_TLS: expected true, as KAFKA_CA is set, got false');
  }
  if (config.REDIS_URL !== undefined) faults.push(...redisFaults(new URL(config.REDIS_URL)));
  if (config.REDIS_CA !== undefined && !config.REDIS_URL?.startsWith('rediss:')) {
    faults.push('  REDIS_URL: expected a URL that begins with rediss://, as REDIS_CA is set');
  }
  if (config.WORKERS !== 1 && config.KAFKA_BROKERS.length === 0 && config.REDIS_URL === undefined) {
    faults.push(
      `  WORKERS: expected 1, as neither KAFKA_BROKERS nor REDIS_URL is set and a process would not get the others' events, got ${config.WORKERS}`,
    );
  }
  return faults;
}

function redisFaults({ pathname, search }: URL): string[] {
  const faults: string[] = [];
  if (!/^\/?0?$/.test(pathname)) {
    faults.push(
      `  REDIS_URL: expected no database, since pub/sub has none and gateways would get the events of others: set REDIS_PREFIX to keep them apart, got ${pathname}`,
    );
  }
  // Not shown: there may be a password in it.
  if (search !== '') faults.push('  REDIS_URL: expected no parameters behind a question mark, got some');
  return faults;
}

/** The effective settings, one `NAME=value` a line, without secrets. */
export function describeConfig(config: Config): string {
  return Object.entries<Setting<unknown>>(SETTINGS)
    .map(([name, setting]) => `${name}=${shown(setting, written(config[name as keyof Config]))}`)
    .join('\n');
}

/** The settings as the Markdown table of docs/reference/settings.md. */
export function configMarkdown(): string {
  const rows = Object.entries<Setting<unknown>>(SETTINGS).map(
    ([name, { expected, help, default: value }]) => {
      const standard = written(value) === '' ? '–' : `\`${written(value)}\``;
      return `| \`${name}\` | ${expected} | ${standard} | ${help} |`;
    },
  );
  return ['| setting | value | default | what it does |', '|---|---|---|---|', ...rows].join('\n');
}

function written(value: unknown): string {
  return value === undefined ? '' : String(value);
}

/** A value without its secret part. */
function shown(setting: Setting<unknown>, value: string): string {
  if (value === '' || setting.secret === 'no') return value;
  if (setting.secret === 'all') return '(secret)';
  if (!URL.canParse(value)) return '(a value that is not shown, as it may hold a password)';
  const url = new URL(value);
  if (url.password !== '') url.password = '***';
  return url.href;
}
