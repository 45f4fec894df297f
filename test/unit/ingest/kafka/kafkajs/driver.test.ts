import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import kafkajs from 'kafkajs';
import { TokenUnavailable } from '../../../../../src/ingest/kafka/credentials/token-unavailable.ts';
import { isRetriable } from '../../../../../src/ingest/kafka/kafkajs/driver.ts';
import { TLS_REFUSED } from '../../../../../src/ingest/kafka/kafkajs/socket.ts';
import { kafkaLogCreator } from '../../../../../src/ingest/kafka/kafkajs/log.ts';
import { readableLog } from '../../parts.ts';

/** Brokers' own errors, by their code in the protocol. */
const kafkajsErrors = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
  createErrorFromCode(code: number): Error;
};
const REBALANCE_IN_PROGRESS = 27;

const { ERROR, WARN, INFO } = kafkajs.logLevel;

/** What becomes of lines of these levels, with a message or other data. */
function logged(levels: readonly number[], data: object = {}) {
  const { log, lines } = readableLog();
  const write = kafkaLogCreator(log)(INFO);
  const carried = { broker: 'b:1', sasl: { password: 'secret' }, stack: 'at …' };
  for (const level of levels) {
    const line = { timestamp: '', message: 'hello', ...carried, ...data };
    write({ namespace: 'Connection', level, label: '', log: line });
  }
  return lines;
}

test("kafkajs's lines go to the gateway's log, without the other data that they carry", () => {
  const lines = logged([ERROR, WARN, INFO]);
  assert.deepEqual(
    lines.map(({ level, msg, broker, client }) => [level, msg, broker, client]),
    [50, 40, 20].map((level) => [level, 'hello', 'b:1', 'kafkajs Connection']),
  );
  assert.doesNotMatch(JSON.stringify(lines), /secret|stack/);
});

test('a rebalance of the consumer group is not logged as an error', () => {
  const { message: error } = kafkajsErrors.createErrorFromCode(REBALANCE_IN_PROGRESS);
  const levels = logged([ERROR, WARN], { error }).map(({ level }) => level);
  assert.deepEqual(levels, [20, 20]);
});

for (const message of [
  'SASL PLAIN authentication failed: Authentication failed: Invalid username or password',
  'Response SaslAuthenticate(key: 36, version: 1)',
  'KAFKA_OAUTH_TOKEN_URL: expected status 200 and a bearer token, got status 503',
  'Failed to connect to seed broker, trying another broker from the list: Connection error: no TLS connection: came',
]) {
  test(`what is thrown of a refused connection is not logged as well: ${message.slice(0, 40)} …`, () => {
    assert.equal(logged([ERROR], { message })[0]?.['level'], 20);
  });
}

test('temporary errors are told apart from permanent ones', () => {
  const refused = new kafkajs.KafkaJSConnectionError('refused');
  const outOfRetries = Object.assign(new Error('gave up'), { name: 'KafkaJSNumberOfRetriesExceeded' });
  const alert = Object.assign(new kafkajs.KafkaJSConnectionError('alert'), { code: TLS_REFUSED });
  const outOfAlerts = Object.assign(new Error('gave up', { cause: alert }), { name: outOfRetries.name });
  for (const [error, expected] of [
    [refused, true],
    [alert, false],
    [outOfAlerts, false],
    [outOfRetries, true],
    [Object.assign(new Error('wrapped'), { cause: refused }), true],
    [new kafkajs.KafkaJSNonRetriableError('wrong password'), false],
    [new TokenUnavailable('no token', { retriable: true }), true],
    [new TokenUnavailable('no token', { retriable: false }), false],
    [new TypeError('a fault'), false],
    ['text', false],
  ] as const) {
    assert.equal(isRetriable(error), expected, String(error));
  }
});
