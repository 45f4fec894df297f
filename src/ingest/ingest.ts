import type { Config } from '../config/settings.ts';
import { SluiceError } from '../errors.ts';
import type { Publisher } from '../events/publisher.ts';
import { usesRedis, type RedisPlaceSettings } from '../config/uses-redis.ts';
import type { TracedSteps } from '../events/trace.ts';
import { loadProtobufjs } from '../formats/protobuf-schema.ts';
import { needsSchema } from '../graph/encoding/encoding.ts';
import type { Topic } from '../graph/graph.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { systemClock } from '../support/clock.ts';
import type { ByteSource } from '../support/byte-budget.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { EventSpans } from './event-spans.ts';
import type { BusId } from './kafka/group-bus.ts';
import { KafkaSource, type KafkaSourceSettings } from './kafka/source.ts';
import { LocalSource } from './local-source.ts';
import { SchemaRegistry } from './schemas/registry.ts';
import { RegistryAccess, type RegistrySettings } from './schemas/registry-access.ts';
import { Simulator } from './simulator.ts';
import { kafkaConnection, type KafkaConnectionSettings } from './kafka/connection.ts';
import type { KafkaDriver } from './kafka/driver.ts';

interface IngestOptions {
  readonly settings: KafkaSourceSettings &
    DriverSettings &
    RedisPlaceSettings &
    RegistrySettings &
    Pick<Config, 'SIMULATOR'>;
  readonly topics: ReadonlyMap<string, Topic>;
  readonly publisher: Publisher;
  /** Reserves bytes for records. */
  readonly records: ByteSource;
  /** File with the simulator of the graph, if it has one. */
  readonly simulator: string | undefined;
  /** Why this process must not join Kafka's group yet; undefined if it may. */
  readonly mayNotJoin: () => string | undefined;
  /** Returns the id that distinguishes the bus from others. */
  readonly busId: BusId;
  /** Why nothing must be consumed from Kafka at the moment; undefined if it may be. */
  readonly hold: () => string | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly trace?: TracedSteps | undefined;
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
}

/** The sources of events. */
export interface Ingest {
  /** To be started in order, and stopped in reverse. */
  readonly parts: readonly { start(): unknown; stop(): unknown }[];
  readonly notReady: () => string | undefined;
  /** Accepts an event of `POST /events` or of the simulator; undefined if events come from Kafka or from other pods. */
  readonly accept: LocalSource['accept'] | undefined;
  /** Stops consuming; undefined if no other pod would consume the partitions instead. */
  readonly leaveGroup: (() => Promise<void>) | undefined;
  /** Undefined if this process consumes nothing. */
  readonly kafka: KafkaSource | undefined;
  /**
   * Whether the topics of another graph can be consumed.
   *
   * @throws SluiceError if they can't
   */
  readonly check: (topics: ReadonlyMap<string, Topic>) => Promise<void>;
  /** From now on, consumes the topics of another graph in place of the former ones. */
  readonly use: (topics: ReadonlyMap<string, Topic>) => void;
}

/**
 * | Kafka | Redis | events come from |
 * |---|---|---|
 * | no | no | `POST /events`, and the simulator for the bundled graph |
 * | yes | no | Kafka, all of them to each process |
 * | no | yes | other pods, through Redis: an edge |
 * | yes | yes | Kafka, each to one process of the group |
 *
 * @throws SluiceError BAD_SETTINGS
 */
export async function createIngest(options: IngestOptions): Promise<Ingest> {
  const {
    settings,
    topics,
    publisher,
    records,
    simulator,
    mayNotJoin,
    busId,
    hold,
    metrics,
    log,
    trace,
    tracing,
  } = options;
  if (settings.KAFKA_BROKERS.length > 0) {
    const broadcast = !usesRedis(settings);
    checkFormats(topics, settings);
    const registry = createRegistry(settings, metrics, log);
    // Prometheus sees the first increase of a counter only if it has begun at 0.
    for (const outcome of ['found', 'not_found', 'failed']) metrics.schemaRequests.inc({ outcome }, 0);
    const driver = await chooseDriver(settings, log);
    const attributes = {
      'messaging.system': 'kafka',
      'messaging.consumer.group.name': settings.KAFKA_GROUP_ID,
    };
    const kafka = new KafkaSource({
      settings,
      topics,
      publisher,
      records,
      mayNotJoin,
      busId: broadcast ? undefined : busId,
      hold,
      metrics,
      log,
      broadcast,
      driver,
      schemas: registry,
      trace,
      spans: tracing && new EventSpans(tracing, attributes),
    });
    const leaveGroup = broadcast ? undefined : () => kafka.stop();
    return {
      parts: registry === undefined ? [kafka] : [registry, kafka],
      notReady: () => kafka.notReady() ?? registry?.notReady(),
      accept: undefined,
      leaveGroup,
      kafka,
      check: async (wanted) => {
        checkFormats(wanted, settings);
        await kafka.check(wanted);
      },
      use: (wanted) => kafka.use(wanted),
    };
  }
  const others = {
    notReady: () => undefined,
    leaveGroup: undefined,
    kafka: undefined,
    check: () => Promise.resolve(),
  };
  if (usesRedis(settings)) {
    return { parts: [], accept: undefined, use: () => undefined, ...others };
  }
  const prefix = settings.REDIS_PREFIX;
  const maxFanoutBytes = settings.MAX_EVENT_FANOUT_BYTES;
  const source = new LocalSource({ topics, prefix, publisher, maxFanoutBytes, metrics, log, trace, tracing });
  const accept: LocalSource['accept'] = (...event) => source.accept(...event);
  const simulated = settings.SIMULATOR && simulator !== undefined;
  const parts = simulated ? [await Simulator.load(simulator, { accept, log })] : [];
  return { parts, accept, use: (wanted) => source.use(wanted), ...others };
}

/** @returns undefined if no registry is set */
function createRegistry(settings: RegistrySettings, metrics: Metrics, log: Log): SchemaRegistry | undefined {
  const { SCHEMA_REGISTRY_URL: urls } = settings;
  if (urls.length === 0) return undefined;
  const access = new RegistryAccess(settings, log, systemClock.now);
  return new SchemaRegistry({ urls, access, clock: systemClock, metrics, log });
}

/**
 * Checks that the topics' messages can be decoded here: an edge, and a process without Kafka, decode none.
 *
 * @throws SluiceError BAD_SETTINGS, MISSING_PACKAGE
 */
function checkFormats(
  topics: ReadonlyMap<string, Topic>,
  { SCHEMA_REGISTRY_URL: urls }: RegistrySettings,
): void {
  for (const { name, format, keyFormat, decodeValue, decodeKey } of topics.values()) {
    if (format === 'PROTOBUF' || keyFormat === 'PROTOBUF') loadProtobufjs();
    const lacks =
      (needsSchema(format) && decodeValue === undefined) ||
      (needsSchema(keyFormat) && decodeKey === undefined);
    if (!lacks || urls.length > 0) continue;
    throw new SluiceError(
      'BAD_SETTINGS',
      `SCHEMA_REGISTRY_URL: expected a URL, as messages of the topic "${name}" name their schemas (@event without schema), got nothing`,
    );
  }
}

type DriverSettings = KafkaConnectionSettings &
  Pick<Config, 'KAFKA_DRIVER' | 'KAFKA_GROUP_PROTOCOL' | 'KAFKA_INSTANCE_ID'>;

/**
 * Loads only the chosen client, so that the other one takes no memory.
 *
 * @throws SluiceError BAD_SETTINGS
 */
export async function chooseDriver(settings: DriverSettings, log: Log): Promise<KafkaDriver> {
  const {
    KAFKA_DRIVER: driver,
    KAFKA_GROUP_PROTOCOL: groupProtocol,
    KAFKA_INSTANCE_ID: instanceId,
  } = settings;
  const connection = kafkaConnection(settings, log);
  log.info(
    { driver, groupProtocol, ...(instanceId !== undefined && { instanceId }) },
    'events come from Kafka',
  );
  if (driver === 'platformatic') {
    const { PlatformaticDriver } = await import('./kafka/platformatic/driver.ts');
    return new PlatformaticDriver(connection, { instanceId, groupProtocol, log });
  }
  const { KafkajsDriver } = await import('./kafka/kafkajs/driver.ts');
  return new KafkajsDriver(connection, log);
}
