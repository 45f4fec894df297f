import assert from 'node:assert/strict';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { kafkaConnection } from '../../src/ingest/kafka/connection.ts';
import type { RecordBatch } from '../../src/ingest/kafka/driver.ts';
import { PlatformaticDriver } from '../../src/ingest/kafka/platformatic/driver.ts';
import { createLog } from '../../src/log.ts';
import { selfSigned } from '../helpers/certificate.ts';
import { PLAIN_KAFKA } from '../helpers/source-settings.ts';
import { flipByteOfBatch } from '../helpers/log-segment.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { startSecureKafka } from '../helpers/secure-kafka.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { range } from './kafka-checks.ts';
import { TestMember } from './kafka-member.ts';
import { DRIVERS, type DriverMaker } from './kafka-drivers.ts';
import { brokerHandle } from './kafkajs-broker.ts';

const OPTIONS = needs('kafka-jars');
const topic = 'items';
const options = { groupId: 'group', topics: [topic] };

async function setUp(t: TestContext, make: DriverMaker['make']) {
  const kafka = await startOwnKafka(t, await temporaryFolder(t));
  const driver = make([kafka.brokers]);
  const broker = await brokerHandle(t, kafka.client);
  await broker.createTopic(topic, 2);
  const first = await new TestMember(driver, options).start(t);
  await first.member.stop();
  return { kafka, driver, broker };
}

for (const { name, make } of DRIVERS) {
  test(
    `${name}: a record batch that is damaged is handed over by itself, again and again, until it can be read`,
    OPTIONS,
    async (t) => {
      const { kafka, driver, broker } = await setUp(t, make);
      for (const values of [range(0, 2), range(2, 5), range(5, 6)]) await broker.produce(topic, 0, values);
      const flip = () => flipByteOfBatch(path.join(kafka.logFolder, `${topic}-0`), 1);
      await flip();
      const bad: RecordBatch[] = [];
      const member: TestMember = new TestMember(driver, {
        ...options,
        onBatch: async (batch) => {
          if (batch.bad === undefined) await member.take(batch);
          else bad.push(batch);
        },
      });
      await member.start(t);
      await member.until(() => bad.length >= 2);
      assert.deepEqual(member.values(0), range(0, 2));
      for (const batch of bad) {
        const { firstOffset, lastOffset, error } = batch.bad ?? {};
        assert.deepEqual([batch.partition, batch.records.length, firstOffset, lastOffset], [0, 0, 2, 4]);
        assert.match(String(error), /checksum/);
      }
      await broker.produce(topic, 1, range(0, 3));
      await member.until(() => member.values(1).length === 3);
      await flip();
      await member.until(() => member.values(0).length === 6);
      assert.deepEqual(member.values(0), range(0, 6));
      assert.equal(member.crash, undefined);
      await member.member.stop();
    },
  );

  test(
    `${name}: a member goes on after a restart of its broker, or crashes of what is worth another attempt`,
    OPTIONS,
    async (t) => {
      const { kafka, driver, broker } = await setUp(t, make);
      const member = await new TestMember(driver, options).start(t);
      await broker.produce(topic, 0, range(0, 3));
      await member.until(() => member.committed === 3);
      await kafka.restart();
      await broker.produce(topic, 0, range(3, 6));
      const next = new TestMember(driver, options);
      await member.until(() => member.records.length === 6 || member.crash !== undefined);
      if (member.records.length < 6) {
        assert.equal(driver.isRetriable(member.crash), true);
        await next.start(t);
        await next.until(() => next.records.length === 3);
      }
      assert.deepEqual([...member.values(), ...next.values()], range(0, 6));
      await member.member.stop();
      await next.member.stop();
    },
  );

  test(
    `${name}: with a wrong password a member crashes, and another attempt is not worth it`,
    OPTIONS,
    async (t) => {
      const certificate = await selfSigned(t);
      const kafka = await startSecureKafka(t, certificate, { name: 'sluice', password: 'open sesame' });
      const driver = make([kafka.brokers], {
        KAFKA_TLS: true,
        KAFKA_CA: certificate.certificateFile,
        KAFKA_SASL_MECHANISM: 'plain',
        KAFKA_SASL_USERNAME: 'sluice',
        KAFKA_SASL_PASSWORD: 'open rye',
      });
      const refused = await new TestMember(driver, options).member.run().catch((thrown: unknown) => thrown);
      assert.match(String(refused), /authentication/i);
      assert.equal(driver.isRetriable(refused), false);
      await assert.rejects(driver.missingTopics([topic]), (error) => !driver.isRetriable(error));
    },
  );
}

test(
  'with brokers that know classic groups only, a member of the other protocol says which one to set',
  OPTIONS,
  async (t) => {
    const kafka = await startOwnKafka(t, await temporaryFolder(t), {
      'group.coordinator.rebalance.protocols': 'classic',
    });
    const broker = await brokerHandle(t, kafka.client);
    await broker.createTopic(topic, 1);
    const connection = kafkaConnection(
      { ...PLAIN_KAFKA, KAFKA_BROKERS: [kafka.brokers] },
      createLog('silent'),
    );
    const driver = new PlatformaticDriver(connection, {
      instanceId: undefined,
      groupProtocol: 'consumer',
      log: createLog('silent'),
    });
    const refused = await new TestMember(driver, options).member.run();
    assert.match(refused.message, /^KAFKA_GROUP_PROTOCOL: expected classic, as these brokers /);
    assert.equal(driver.isRetriable(refused), false);
  },
);
