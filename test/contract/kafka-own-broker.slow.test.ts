import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { offsetCommitV8 } from '@platformatic/kafka';
import { leaderEpochOf } from '../../src/events/log-position.ts';
import { kafkaConnection } from '../../src/ingest/kafka/connection.ts';
import type { RecordBatch } from '../../src/ingest/kafka/driver.ts';
import { Cluster } from '../../src/ingest/kafka/platformatic/cluster.ts';
import { GroupCoordinator, topicsToCommit } from '../../src/ingest/kafka/platformatic/group-coordinator.ts';
import type { CommitOf } from '../../src/ingest/kafka/platformatic/membership.ts';
import { readPositionText } from '../../src/ingest/kafka/position-text.ts';
import type { KafkaRecord } from '../../src/ingest/record.ts';
import { createLog } from '../../src/log.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { GuardedKafka } from '../helpers/guarded-kafka.ts';
import { flipByteOfBatch } from '../helpers/log-segment.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { fileScope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';
import { PLAIN_KAFKA } from '../helpers/source-settings.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { range } from './kafka-checks.ts';
import { DRIVERS, platformatic, type DriverMaker } from './kafka-drivers.ts';
import { TestMember, TIMING } from './kafka-member.ts';
import { brokerHandle } from './kafkajs-broker.ts';

const test = testNeeding('kafka-jars', 'kcat');

/** The session timeout of both protocols. */
const SESSION_MS = 4_000;

const scope = fileScope();
let starting: Promise<GuardedKafka> | undefined;

/** All checks but the last share one. */
const sharedKafka = () =>
  (starting ??= GuardedKafka.start(scope, {
    'group.min.session.timeout.ms': SESSION_MS,
    'group.consumer.min.session.timeout.ms': SESSION_MS,
    'group.consumer.session.timeout.ms': SESSION_MS,
    'group.consumer.min.heartbeat.interval.ms': 300,
    'group.consumer.heartbeat.interval.ms': 300,
  }));

/** @returns with a topic of two partitions, whose ends the group has committed */
async function setUp(t: TestContext, make: DriverMaker['make']) {
  const { kafka } = await sharedKafka();
  const driver = make([kafka.brokers]);
  const broker = await brokerHandle(t, kafka);
  const topic = `items-${randomUUID()}`;
  await broker.createTopic(topic, 2);
  const options = {
    groupId: `group-${topic}`,
    topics: [topic],
    timing: { ...TIMING, sessionTimeoutMs: SESSION_MS },
  };
  const first = await new TestMember(driver, options).start(t);
  await first.member.stop();
  const produce = (partition: number, from: number, to: number) =>
    broker.produce(topic, partition, range(from, to));
  const flip = (partition: number, batch: number) =>
    flipByteOfBatch(path.join(kafka.logFolder, `${topic}-${partition}`), batch);
  return { kafka, driver, topic, options, produce, flip };
}

/** The group needs no member for it: a consumer of kafkajs that crashes would join again by itself, and keep partitions. */
async function commitText(
  t: TestContext,
  brokers: string,
  groupId: string,
  position: CommitOf,
): Promise<void> {
  const settings = { ...PLAIN_KAFKA, KAFKA_BROKERS: [brokers] };
  const cluster = new Cluster({ connection: kafkaConnection(settings, createLog('silent')) });
  const coordinator = new GroupCoordinator(cluster, groupId, TIMING.rebalanceTimeoutMs);
  t.after(() => Promise.all([coordinator.close(), cluster.close()]));
  const nobody = [-1, '', null] as const;
  await coordinator.ask('committing', offsetCommitV8.api, groupId, ...nobody, topicsToCommit([position]));
}

for (const { name, make } of DRIVERS) {
  test(`${name}: a record batch that is damaged is handed over by itself, again and again, until it can be read or is passed over`, async (t) => {
    const { driver, options, topic, produce, flip } = await setUp(t, make);
    for (const partition of [0, 1]) {
      await produce(partition, 0, 2);
      await produce(partition, 2, 5);
      await produce(partition, 5, 6);
      await flip(partition, 1);
    }
    const bad: RecordBatch[] = [];
    const member: TestMember = new TestMember(driver, {
      ...options,
      onBatch: async (batch) => {
        if (batch.bad === undefined) return member.take(batch);
        if (batch.partition === 1) return batch.commit((batch.bad.lastOffset ?? NaN) + 1);
        bad.push(batch);
      },
    });
    await member.start(t);
    await member.until(() => member.values(1).length === 3);
    assert.deepEqual(member.values(1), [...range(0, 2), ...range(5, 6)]);
    await member.until(() => bad.length >= 2);
    assert.deepEqual(member.values(0), range(0, 2));
    for (const batch of bad) {
      const { firstOffset, lastOffset, error } = batch.bad ?? {};
      assert.deepEqual([batch.partition, batch.records.length, firstOffset, lastOffset], [0, 0, 2, 4]);
      assert.match(String(error), /checksum/);
    }
    const log = { partition: 1, topicId: member.records[0]?.topicId, resets: 0, leaderEpoch: undefined };
    const read = async (until: number): Promise<string[]> => {
      const values: string[] = [];
      const take = async (records: readonly KafkaRecord[]): Promise<void> => {
        values.push(...records.map(({ value }) => String(value)));
      };
      await driver.read(topic, [{ ...log, from: 0, until }], take, new AbortController().signal);
      return values;
    };
    assert.deepEqual(await read(2), range(0, 2), 'it may be behind what is read once more');
    await assert.rejects(read(3), /checksum/);
    await produce(1, 6, 9);
    await member.until(() => member.values(1).length === 6);
    await flip(0, 1);
    await member.until(() => member.values(0).length === 6);
    assert.deepEqual(member.values(0), range(0, 6));
    assert.equal(member.crash, undefined);
    await member.member.stop();
  });

  test(`${name}: a batch that is in hand for longer than a session keeps its member in the group, and is committed`, async (t) => {
    const { driver, options, produce } = await setUp(t, make);
    const ends = new AbortController();
    let held: RecordBatch | undefined;
    const member: TestMember = new TestMember(driver, {
      ...options,
      onBatch: async (batch) => {
        held ??= batch;
        // As the gateway does while the bus takes no events.
        while (!ends.signal.aborted) {
          await batch.heartbeat();
          await passes(100);
        }
        await member.take(batch);
      },
    });
    await member.start(t);
    await produce(0, 0, 10);
    await member.until(() => held !== undefined);
    await passes(2 * SESSION_MS); // No less would show it.
    assert.equal(held?.isAssigned(), true);
    ends.abort();
    await member.until(() => member.committed === 10);
    assert.deepEqual(member.values(0), range(0, 10));
    assert.equal(member.crash, undefined);
    await member.member.stop();
  });

  test(`${name}: a member that stood still for longer than its session learns so from a heartbeat, and gets what came meanwhile once it has joined again`, async (t) => {
    const { kafka, driver, topic, options, produce } = await setUp(t, make);
    const joinsBefore = new Map<string, number>();
    const member: TestMember = new TestMember(driver, {
      ...options,
      // The broker answers the fetch that is under way with what comes meanwhile.
      timing: { ...options.timing, fetchWaitMs: 2 * SESSION_MS },
      // As the gateway does before it publishes.
      onBatch: async (batch) => {
        await batch.heartbeat();
        for (const { value } of batch.records) joinsBefore.set(String(value), member.assignments.length);
        await member.take(batch);
      },
    });
    await member.start(t);
    await produce(0, 0, 1);
    await member.until(() => member.committed === 1);
    const joins = member.assignments.length;
    const send = `sleep 0.3; echo late | kcat -P -b ${kafka.brokers} -t ${topic} -p 0`;
    const sending = once(spawnFor(t, 'sh', ['-c', send]), 'exit');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * SESSION_MS);
    assert.deepEqual(await sending, [0, null]);
    await member.until(() => member.committed === 2);
    assert.deepEqual(member.values(0), ['0', 'late']);
    assert.ok((joinsBefore.get('late') ?? 0) > joins, 'expected another join before');
    assert.equal(member.crash, undefined);
    await member.member.stop();
  });

  test(`${name}: a member goes on after a restart of its broker, or crashes of what is worth another attempt`, async (t) => {
    const { kafka, driver, options, produce } = await setUp(t, make);
    const member = await new TestMember(driver, options).start(t);
    await produce(0, 0, 3);
    await member.until(() => member.committed === 3);
    await kafka.restart();
    await produce(0, 3, 6);
    const members = [member];
    // What a member has in hand when it loses the coordinator it can't commit: that comes again, and nothing before it.
    const all = () => members.flatMap((each) => each.values());
    const distinct = () => [...new Set(all())];
    // The next one may crash as well, while the coordinator is still loading the group.
    for (let last = member; distinct().length < 6; last = members.at(-1) ?? last) {
      await last.until(() => distinct().length === 6 || last.crash !== undefined);
      if (last.crash === undefined) break;
      assert.equal(driver.isRetriable(last.crash), true, last.crash.message);
      const next = new TestMember(driver, options);
      members.push(next);
      await next.start(t).catch(() => undefined);
    }
    assert.deepEqual(distinct(), range(0, 6));
    assert.deepEqual(all().slice(0, 3), range(0, 3));
    const later = all().slice(3).map(Number);
    assert.ok(Math.min(...later) >= 3, later.join());
    for (const each of members) await each.member.stop();
  });

  test(`${name}: a log that is another than was consumed before the member joined is read from where it differs`, async (t) => {
    const { kafka, driver, topic, options, produce } = await setUp(t, make);
    await produce(0, 0, 5);
    // Each start of a broker begins an epoch.
    await kafka.restart();
    await produce(0, 5, 10);
    const groupId = `group-of-${topic}`;
    const position = { topic, partition: 0, offset: 8, metadata: 'sluice1 - 2 epoch=0' };
    await commitText(t, kafka.brokers, groupId, position);
    const member = await new TestMember(driver, { ...options, groupId }).start(t);
    await member.until(() => member.committed === 5);
    assert.deepEqual(member.values(), range(5, 10));
    assert.deepEqual(member.resets, [{ topic, partition: 0, position: 8, to: 'divergence', offset: 5 }]);
    await member.member.stop();
    // It has committed the epoch of the last record, which the log has.
    const next = await new TestMember(driver, { ...options, groupId }).start(t);
    await produce(0, 10, 12);
    await next.until(() => next.committed === 2);
    assert.deepEqual([next.values(), next.resets], [range(10, 12), []]);
    const { texts } = await driver.describeGroup(groupId, [topic]);
    const known = texts.map(readPositionText).find((text) => text?.resets === 1);
    const last = next.records.at(-1);
    assert.equal(known?.leaderEpoch, last && leaderEpochOf(last));
    assert.ok((known?.leaderEpoch ?? 0) > 0);
    await next.member.stop();
  });

  test(`${name}: with a wrong password a member crashes, and another attempt is not worth it`, async () => {
    const guarded = await sharedKafka();
    const driver = make([guarded.brokers('password')], {
      KAFKA_TLS: true,
      KAFKA_CA: guarded.authority.certificateFile,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'sluice',
      KAFKA_SASL_PASSWORD: 'open rye',
    });
    const options = { groupId: 'group', topics: ['items'] };
    const refused = await new TestMember(driver, options).member.run().catch((thrown: unknown) => thrown);
    assert.match(String(refused), /authentication/i);
    assert.equal(driver.isRetriable(refused), false);
    await assert.rejects(driver.missingTopics(['items']), (error) => !driver.isRetriable(error));
  });
}

test('with brokers that know classic groups only, a member of the other protocol says which one to set', async (t) => {
  const kafka = await startOwnKafka(t, await temporaryFolder(t), {
    'group.coordinator.rebalance.protocols': 'classic',
  });
  const broker = await brokerHandle(t, kafka);
  await broker.createTopic('items', 1);
  const driver = platformatic('consumer').make([kafka.brokers]);
  const refused = await new TestMember(driver, { groupId: 'group', topics: ['items'] }).member.run();
  assert.match(refused.message, /^KAFKA_GROUP_PROTOCOL: expected classic, as these brokers /);
  assert.equal(driver.isRetriable(refused), false);
});
