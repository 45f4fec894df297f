import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import kafkajs from 'kafkajs';
import { isRetriable } from '../../../../src/ingest/kafka/consumer.ts';
import { KafkaSource, type KafkaSourceSettings } from '../../../../src/ingest/kafka/source.ts';
import { kafkaLogCreator } from '../../../../src/ingest/kafka/log.ts';
import { kafkaFactory } from '../../../../src/ingest/kafka/client.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { readableLog, RecordingPublisher, topic, topics } from '../parts.ts';

/** Brokers' own errors, by their code in the protocol. */
const kafkajsErrors = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
  createErrorFromCode(code: number): Error;
};
const REBALANCE_IN_PROGRESS = 27;

const settings: KafkaSourceSettings = {
  KAFKA_BROKERS: ['127.0.0.1:1'],
  KAFKA_GROUP_ID: 'sluice',
  KAFKA_START: 'committed',
  KAFKA_BAD_BATCH: 'stop',
  KAFKA_SESSION_SECONDS: 6,
  KAFKA_TLS: false,
  KAFKA_CA: undefined,
  KAFKA_SASL_MECHANISM: undefined,
  KAFKA_SASL_USERNAME: undefined,
  KAFKA_SASL_PASSWORD: undefined,
  DEAD_LETTER_TOPIC: undefined,
  EVENT_MAX_AGE_SECONDS: 0,
  REDIS_PREFIX: '',
};

const ingestOf = (changed: Partial<KafkaSourceSettings>, names: string[]) =>
  new KafkaSource({
    settings: { ...settings, ...changed },
    topics: topics(...names.map((name) => topic(name))),
    publisher: new RecordingPublisher(),
    metrics: new Metrics(),
    log: readableLog().log,
    broadcast: false,
  });

test('a dead-letter topic that a subscription field reads is refused', () => {
  assert.throws(() => ingestOf({ DEAD_LETTER_TOPIC: 'bids' }, ['bids']), {
    code: 'BAD_SETTINGS',
    message: /DEAD_LETTER_TOPIC/,
  });
});

test('a certificate file that cannot be read is refused by name', () => {
  const { log } = readableLog();
  assert.throws(() => kafkaFactory({ ...settings, KAFKA_TLS: true, KAFKA_CA: '/nowhere/ca.pem' }, log), {
    code: 'BAD_SETTINGS',
    message: /KAFKA_CA.*nowhere/,
  });
});

test('a graph without topics is ready at once', async () => {
  const ingest = ingestOf({}, []);
  assert.equal(ingest.notReady(), 'joining');
  await ingest.start();
  assert.equal(ingest.notReady(), undefined);
  await ingest.stop();
});

const entry = (level: number) => ({
  namespace: 'Connection',
  level,
  label: '',
  log: { timestamp: '', message: 'hello', broker: 'b:1', sasl: { password: 'secret' }, stack: 'at …' },
});

test("kafkajs's lines go to the gateway's log, without the other data that they carry", () => {
  const { log, lines } = readableLog();
  const write = kafkaLogCreator(log)(kafkajs.logLevel.INFO);
  write(entry(kafkajs.logLevel.ERROR));
  write(entry(kafkajs.logLevel.WARN));
  write(entry(kafkajs.logLevel.INFO));
  assert.deepEqual(
    lines.map(({ level, msg, broker, client }) => [level, msg, broker, client]),
    [50, 40, 20].map((level) => [level, 'hello', 'b:1', 'kafkajs Connection']),
  );
  assert.doesNotMatch(JSON.stringify(lines), /secret|stack/);
});

test('a rebalance of the consumer group is not logged as an error', () => {
  const { log, lines } = readableLog();
  const write = kafkaLogCreator(log)(kafkajs.logLevel.INFO);
  const { message: error } = kafkajsErrors.createErrorFromCode(REBALANCE_IN_PROGRESS);
  for (const level of [kafkajs.logLevel.ERROR, kafkajs.logLevel.WARN]) {
    const line = entry(level);
    write({ ...line, log: { ...line.log, error } });
  }
  assert.deepEqual(
    lines.map(({ level }) => level),
    [20, 20],
  );
});

test('temporary errors are told apart from permanent ones', () => {
  const refused = new kafkajs.KafkaJSConnectionError('refused');
  const outOfRetries = Object.assign(new Error('gave up'), { name: 'KafkaJSNumberOfRetriesExceeded' });
  const authentication = new kafkajs.KafkaJSNonRetriableError('wrong password');
  assert.equal(isRetriable(refused), true);
  assert.equal(isRetriable(outOfRetries), true);
  assert.equal(isRetriable(Object.assign(new Error('wrapped'), { cause: refused })), true);
  assert.equal(isRetriable(authentication), false);
  assert.equal(isRetriable(new TypeError('a fault')), false);
  assert.equal(isRetriable('text'), false);
});
