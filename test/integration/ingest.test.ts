import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import type { Message as Produced } from 'kafkajs';
import { decodeMessage, type Message } from '../../src/events/message.ts';
import { PublishError, type Publication, type Publisher } from '../../src/events/publisher.ts';
import { kafkaConnection } from '../../src/ingest/kafka/connection.ts';
import type { KafkaDriver } from '../../src/ingest/kafka/driver.ts';
import { KafkajsDriver } from '../../src/ingest/kafka/kafkajs/driver.ts';
import { KafkaSource, type KafkaSourceSettings } from '../../src/ingest/kafka/source.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { systemClock, type Clock } from '../../src/support/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { beginAt } from '../helpers/group-offsets.ts';
import { committedBy, kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { kafkaBrokers, testNeeding } from '../helpers/services.ts';
import { PLAIN_KAFKA, SOURCE_SETTINGS, roomForRecords } from '../helpers/source-settings.ts';
import { createTopics } from '../helpers/topic.ts';
import { TIMING } from '../contract/kafka-member.ts';
import { topic as topicNamed, topics as topicsOf } from '../unit/ingest/parts.ts';

const test = testNeeding('kafka');

/** A bus that remembers what it was given, says so by an event, and can be away. */
class Seen extends EventEmitter<{ refused: [] }> implements Publisher {
  readonly messages: Message[] = [];
  away = false;

  get numbers(): number[] {
    return this.messages.map(({ event }) => Number(event['n']));
  }

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
  }
}

type TestKafka = Awaited<ReturnType<typeof useKafka>>;

/** A topic and a group of their own for a test. */
async function useKafka(t: TestContext, partitions: number) {
  const topic = `ingest-${randomUUID()}`;
  const groupId = `group-${topic}`;
  const [admin, producer] = [await kafkaAdmin(t), await kafkaProducer(t)];
  await createTopics(admin, [{ topic, numPartitions: partitions }]);
  const totalCommitted = () => committedBy(admin, groupId, topic);
  const described = async () => {
    const { groups } = await admin.describeGroups([groupId]);
    return { state: groups[0]?.state, members: groups[0]?.members.map(({ memberId }) => memberId) ?? [] };
  };
  return {
    topic,
    groupId,
    totalCommitted,
    groups: async () => {
      const { groups } = await admin.listGroups();
      return groups.filter((group) => group.groupId.startsWith(groupId));
    },
    send: (messages: Produced[]) => producer.send({ topic, messages }),
    committed: (total: number) => eventually(async () => assert.equal(await totalCommitted(), total)),
    memberIds: async () => (await described()).members,
    membersAssigned: (count: number) =>
      eventually(async () => {
        const { state, members } = await described();
        assert.deepEqual([state, members.length], ['Stable', count]);
      }),
  };
}

interface IngestOptions {
  readonly broadcast?: boolean;
  readonly settings?: Partial<KafkaSourceSettings>;
  readonly clock?: Clock;
  /** Takes the place of the driver. */
  readonly driver?: (driver: KafkaDriver) => KafkaDriver;
}

/** @returns once it is ready */
async function startIngest(
  t: TestContext,
  { topic: name, groupId }: TestKafka,
  { broadcast = false, settings, clock, driver = (real) => real }: IngestOptions = {},
) {
  const seen = new Seen();
  const metrics = new Metrics();
  const log = createLog('silent');
  const connection = kafkaConnection({ ...PLAIN_KAFKA, KAFKA_BROKERS: kafkaBrokers().split(',') }, log);
  const ingest = new KafkaSource({
    settings: { ...SOURCE_SETTINGS, KAFKA_GROUP_ID: groupId, ...settings },
    topics: topicsOf(topicNamed(name)),
    publisher: seen,
    metrics,
    log,
    records: roomForRecords(),
    broadcast,
    timing: TIMING,
    ...(clock && { clock }),
    driver: driver(new KafkajsDriver(connection, log)),
  });
  t.after(() => ingest.stop());
  await ingest.start();
  await eventually(() => assert.equal(ingest.notReady(), undefined));
  return { ingest, seen, metrics };
}

const numbered = (from: number, to: number): Produced[] =>
  range(from, to).map((n) => ({ value: JSON.stringify({ n }) }));

test('while the bus is away longer than a session, the consumer commits nothing and stays a member of its group; then all events come, in order', async (t) => {
  const kafka = await useKafka(t, 2);
  const { seen, metrics } = await startIngest(t, kafka);
  await kafka.send(numbered(0, 100));
  await kafka.committed(100);
  const before = await kafka.memberIds();
  seen.away = true;
  const refused = once(seen, 'refused');
  await kafka.send(numbered(100, 1_100));
  await refused;
  await passes(TIMING.sessionTimeoutMs + 2_000); // No less would show it.
  assert.equal(await kafka.totalCommitted(), 100);
  assert.deepEqual(await kafka.memberIds(), before);
  seen.away = false;
  await kafka.committed(1_100);
  assert.deepEqual(sorted(seen.numbers), range(0, 1_100));
  for (const partition of [0, 1]) {
    const offsets = seen.messages.filter(({ p }) => p === partition).map(({ o }) => o);
    assert.deepEqual(offsets, range(0, offsets.length));
  }
  assert.equal((await metrics.consumerRestarts.get()).values[0]?.value, 0);
});

test('KAFKA_START=latest skips events that came while the consumer group had no member, and no others', async (t) => {
  const kafka = await useKafka(t, 1);
  const settings = { KAFKA_START: 'latest' } as const;
  const before = await startIngest(t, kafka, { settings });
  await before.ingest.stop();
  await kafka.send(numbered(1, 2));
  const first = await startIngest(t, kafka, { settings });
  first.seen.away = true;
  const refused = once(first.seen, 'refused');
  await kafka.send(numbered(2, 3));
  await refused;
  const second = await startIngest(t, kafka, { settings });
  await kafka.membersAssigned(2);
  first.seen.away = false;
  await kafka.committed(2);
  assert.deepEqual([...first.seen.numbers, ...second.seen.numbers], [2]);
});

test('the consumer group of a single process is deleted when the process stops', async (t) => {
  const kafka = await useKafka(t, 1);
  let forgetting: Promise<boolean> | undefined;
  const driver = (real: KafkaDriver): KafkaDriver => {
    const forget = real.forgetGroup.bind(real);
    t.mock.method(real, 'forgetGroup', (groupId: string) => (forgetting = forget(groupId)));
    return real;
  };
  const { ingest } = await startIngest(t, kafka, { broadcast: true, driver });
  assert.equal((await kafka.groups()).length, 1);
  await ingest.stop();
  // A stop waits for 3 s at most, which a busy machine may take.
  assert.equal(await forgetting, true);
  assert.deepEqual(await kafka.groups(), []);
});

test('a position that is not in the log is counted', async (t) => {
  const kafka = await useKafka(t, 1);
  await kafka.send(numbered(0, 10));
  await beginAt(kafkaBrokers(), kafka.groupId, kafka.topic, { 0: 1_000 });
  const { seen, metrics } = await startIngest(t, kafka);
  const counted = new RegExp(`sluice_position_resets_total\\{topic="${kafka.topic}",to="end"\\} 1\n`);
  await eventually(async () => assert.match(await metrics.registry.metrics(), counted));
  await kafka.send(numbered(100, 103));
  await kafka.committed(13);
  assert.deepEqual(seen.numbers, range(100, 103));
});

test('a consumer that crashes without restarting is replaced, and the pod is not ready meanwhile', async (t) => {
  const kafka = await useKafka(t, 1);
  let faulty = false;
  const started: KafkaSource[] = [];
  const reasons: (string | undefined)[] = [];
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal: AbortSignal) => {
      reasons.push(started[0]?.notReady());
      return systemClock.sleep(ms, signal);
    },
  };
  const driver = (real: KafkaDriver): KafkaDriver => ({
    missingTopics: (wanted) => real.missingTopics(wanted),
    topics: () => real.topics(),
    forgetGroup: (groupId) => real.forgetGroup(groupId),
    describeGroup: (groupId, topics) => real.describeGroup(groupId, topics),
    deadLetterSink: (topic) => real.deadLetterSink(topic),
    isRetriable: (error) => real.isRetriable(error),
    read: (...asked) => real.read(...asked),
    member: (options) =>
      real.member({
        ...options,
        onBatch: async (batch) => {
          if (!faulty) return options.onBatch(batch);
          faulty = false;
          throw new TypeError('a fault');
        },
      }),
  });
  const { seen, metrics, ingest } = await startIngest(t, kafka, { clock, driver });
  started.push(ingest);
  faulty = true;
  await kafka.send(numbered(1, 2));
  await kafka.committed(1);
  assert.deepEqual(seen.numbers, [1]);
  assert.ok(reasons.includes('consumer crashed: a fault'), `got ${JSON.stringify(reasons)}`);
  assert.equal(ingest.notReady(), undefined);
  assert.equal(ingest.inspect().lastError, 'a fault');
  assert.equal((await metrics.consumerRestarts.get()).values[0]?.value, 1);
});

test('a look at the consumer shows the position and the lag of each partition, and which one waits for the bus', async (t) => {
  const kafka = await useKafka(t, 2);
  const { seen, ingest } = await startIngest(t, kafka);
  const toFirst = (from: number, to: number) =>
    kafka.send(numbered(from, to).map((message) => ({ ...message, partition: 0 })));
  await toFirst(1, 3);
  const inspected = () =>
    ingest
      .inspect()
      .partitions.map((partition) => ({ ...partition, lagSeconds: 0 }))
      .toSorted((one, other) => one.partition - other.partition);
  const at = { topic: kafka.topic, state: 'consuming', reason: undefined, lagSeconds: 0 };
  const idle = { ...at, partition: 1, position: 0, highWatermark: 0, lag: 0 };
  const first = { ...at, partition: 0, lag: 0 };
  await eventually(() => assert.deepEqual(inspected(), [{ ...first, position: 2, highWatermark: 2 }, idle]));
  assert.equal(ingest.inspect().connected, true);
  seen.away = true;
  await toFirst(3, 4);
  await eventually(() => assert.equal(inspected()[0]?.state, 'held'));
  const { reason = '', ...rest } = inspected()[0] ?? {};
  const { reason: _none, ...held } = { ...first, state: 'held', position: 2, highWatermark: 3, lag: 1 };
  assert.deepEqual(rest, held);
  assert.match(reason, /acknowledged 0 of 1/);
  assert.deepEqual(inspected()[1], idle);
  seen.away = false;
  await eventually(() => assert.deepEqual(inspected(), [{ ...first, position: 3, highWatermark: 3 }, idle]));
});
