import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import kafkajs from 'kafkajs';
import { TokenUnavailable } from '../../../../../src/ingest/kafka/credentials/token-unavailable.ts';
import { isRetriable } from '../../../../../src/ingest/kafka/kafkajs/is-retriable.ts';
import { TLS_REFUSED } from '../../../../../src/ingest/kafka/kafkajs/socket.ts';
import { kafkaLogCreator } from '../../../../../src/ingest/kafka/kafkajs/log.ts';
import { readableLog } from '../../parts.ts';

/** Brokers' own errors, by their code in the protocol. */
const kafkajsErrors = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
  createErrorFromCode(code: number): Error;
};
const REBALANCE_IN_PROGRESS = 27;

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

test('what is thrown of a refused connection is not logged as well', () => {
  const { log, lines } = readableLog();
  const write = kafkaLogCreator(log)(kafkajs.logLevel.INFO);
  for (const message of [
    'SASL PLAIN authentication failed: Authentication failed: Invalid username or password',
    'Response SaslAuthenticate(key: 36, version: 1)',
    'KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got status 503',
    'Failed to connect to seed broker, trying another broker from the list: Connection error: no TLS connection: came',
  ]) {
    const line = entry(kafkajs.logLevel.ERROR);
    write({ ...line, log: { ...line.log, message } });
  }
  assert.deepEqual(
    lines.map(({ level }) => level),
    [20, 20, 20, 20],
  );
});

test('temporary errors are told apart from permanent ones', () => {
  const refused = new kafkajs.KafkaJSConnectionError('refused');
  const outOfRetries = Object.assign(new Error('gave up'), { name: 'KafkaJSNumberOfRetriesExceeded' });
  const authentication = new kafkajs.KafkaJSNonRetriableError('wrong password');
  const alert = Object.assign(new kafkajs.KafkaJSConnectionError('alert'), { code: TLS_REFUSED });
  const outOfAlerts = Object.assign(new Error('gave up', { cause: alert }), { name: outOfRetries.name });
  assert.equal(isRetriable(refused), true);
  assert.equal(isRetriable(alert), false);
  assert.equal(isRetriable(outOfAlerts), false);
  assert.equal(isRetriable(outOfRetries), true);
  assert.equal(isRetriable(Object.assign(new Error('wrapped'), { cause: refused })), true);
  assert.equal(isRetriable(authentication), false);
  for (const retriable of [true, false]) {
    assert.equal(isRetriable(new TokenUnavailable('no token', { retriable })), retriable);
  }
  assert.equal(isRetriable(new TypeError('a fault')), false);
  assert.equal(isRetriable('text'), false);
});
