import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import kafkajs, { type KafkaMessage, type Message as Produced } from 'kafkajs';
import { systemClock, type Clock } from '../../src/support/clock.ts';
import { KafkaSource, type KafkaSourceSettings } from '../../src/ingest/kafka/source.ts';
import { decodeMessage, type Message } from '../../src/events/message.ts';
import { PublishError, type Publication, type Publisher } from '../../src/events/publisher.ts';
import type { KafkaDriver } from '../../src/ingest/kafka/driver.ts';
import { chooseDriver } from '../../src/ingest/choose-driver.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { PLAIN_KAFKA, SOURCE_SETTINGS } from '../helpers/source-settings.ts';
import { createTopics } from '../helpers/topic.ts';
import { describeGroup } from './group-description.ts';

const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',').filter((broker) => broker !== '');

/** Why tests that need Kafka are left out. */
export const skip = brokers.length === 0 && 'KAFKA_BROKERS is not set';

/** Short, but not shorter than brokers allow. */
const timing = {
  sessionTimeoutMs: 6_000,
  heartbeatMs: 300,
  rebalanceTimeoutMs: 10_000,
  fetchWaitMs: 200,
  metadataMaxAgeMs: 20_000,
};

/** A bus that remembers what it was given, says so by an event, and can be away. */
export class Seen extends EventEmitter<{ published: []; refused: [] }> implements Publisher {
  readonly messages: Message[] = [];
  away = false;

  subscribed(_topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(channels));
  }

  async publish(_topic: string, batch: readonly Publication[]): Promise<void> {
    if (this.away) {
      this.emit('refused');
      throw new PublishError(batch, batch.length, new Error('the bus is away'));
    }
    for (const { payload } of batch) {
      const message = decodeMessage(payload);
      if (message !== undefined) this.messages.push(message);
    }
    this.emit('published');
  }
}

interface KafkaOptions {
  readonly partitions: number;
  readonly create?: boolean;
  readonly deadLetters?: boolean;
  readonly brokers?: string[];
}

export type TestKafka = Awaited<ReturnType<typeof useKafka>>;

/** A topic and a group of their own for a test. */
export async function useKafka(t: TestContext, options: KafkaOptions) {
  const topic = `ingest-${randomUUID()}`;
  const groupId = `group-${topic}`;
  const deadLetterTopic = options.deadLetters === true ? `dead-${topic}` : undefined;
  const client = new kafkajs.Kafka({
    brokers: options.brokers ?? brokers,
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = client.admin();
  const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  if (options.brokers === undefined) {
    await admin.connect();
    await producer.connect();
    t.after(async () => {
      await producer.disconnect();
      await admin.disconnect();
    });
  }
  const create = async () => {
    const topics = [{ topic, numPartitions: options.partitions }];
    if (deadLetterTopic !== undefined) topics.push({ topic: deadLetterTopic, numPartitions: 1 });
    await createTopics(admin, topics);
  };
  if (options.create !== false) await create();

  /** Checks again whenever one of the buses was used, and several times a second. */
  const until = async (holds: () => boolean | Promise<boolean>, ...buses: Seen[]) => {
    while (!(await holds())) {
      const ends = new AbortController();
      const signals = buses.map((bus) =>
        once(bus, 'published', { signal: ends.signal }).catch(() => undefined),
      );
      await Promise.race([...signals, systemClock.sleep(50, t.signal)]);
      ends.abort();
      t.signal.throwIfAborted();
    }
  };
  const totalCommitted = async () => {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
  };
  const described = () => describeGroup(admin, brokers[0] ?? '', groupId);
  return {
    topic,
    groupId,
    deadLetterTopic,
    timing,
    brokers: options.brokers ?? brokers,
    create,
    until,
    totalCommitted,
    admin,
    send: (messages: Produced[]) => producer.send({ topic, messages }),
    committed: (total: number) => until(async () => (await totalCommitted()) === total),
    memberIds: async () => (await described()).memberIds,
    membersAssigned: (count: number) =>
      until(async () => {
        const { isStable, memberIds } = await described();
        return isStable && memberIds.length === count;
      }),
    groups: async () =>
      (await admin.listGroups()).groups.filter((group) => group.groupId.startsWith(groupId)),
    /** The first ones of the dead-letter topic, in order. */
    deadLetters: async (count: number) => {
      const consumer = client.consumer({ groupId: `reader-${groupId}`, maxWaitTimeInMs: 100 });
      t.after(() => consumer.disconnect());
      const read: KafkaMessage[] = [];
      await consumer.connect();
      await consumer.subscribe({ topics: [deadLetterTopic ?? ''], fromBeginning: true });
      await consumer.run({ eachMessage: async ({ message }) => void read.push(message) });
      await until(() => read.length >= count);
      return read;
    },
  };
}

interface IngestOptions {
  readonly settings?: Partial<KafkaSourceSettings>;
  readonly clock?: Clock;
  readonly broadcast?: boolean;
  readonly awaitReady?: boolean;
  readonly metadataMaxAgeMs?: number;
  /** Takes the place of the driver. */
  readonly driver?: (driver: KafkaDriver) => KafkaDriver;
}

export async function startIngest(t: TestContext, kafka: TestKafka, options: IngestOptions = {}) {
  const seen = new Seen();
  const metrics = new Metrics();
  const topic = {
    name: kafka.topic,
    keyStyle: 'SNAKE',
    keys: [],
    kafkaKey: undefined,
    decode: undefined,
  } as const;
  const log = createLog('silent');
  const settings = {
    ...SOURCE_SETTINGS,
    KAFKA_GROUP_ID: kafka.groupId,
    DEAD_LETTER_TOPIC: kafka.deadLetterTopic,
    ...options.settings,
  };
  const { KAFKA_DRIVER, KAFKA_GROUP_PROTOCOL } = loadConfig({
    KAFKA_DRIVER: process.env['KAFKA_DRIVER'],
    KAFKA_GROUP_PROTOCOL: process.env['KAFKA_GROUP_PROTOCOL'],
  });
  const client = { KAFKA_DRIVER, KAFKA_GROUP_PROTOCOL, KAFKA_INSTANCE_ID: undefined };
  const real = await chooseDriver({ ...PLAIN_KAFKA, KAFKA_BROKERS: kafka.brokers, ...client }, log);
  const ingest = new KafkaSource({
    settings,
    topics: new Map([[topic.name, topic]]),
    publisher: seen,
    metrics,
    log,
    broadcast: options.broadcast ?? false,
    timing: {
      ...kafka.timing,
      ...(options.metadataMaxAgeMs && { metadataMaxAgeMs: options.metadataMaxAgeMs }),
    },
    ...(options.clock && { clock: options.clock }),
    driver: options.driver?.(real) ?? real,
  });
  t.after(() => ingest.stop());
  await ingest.start();
  if (options.awaitReady !== false) await kafka.until(() => ingest.notReady() === undefined);
  return { ingest, seen, metrics };
}
