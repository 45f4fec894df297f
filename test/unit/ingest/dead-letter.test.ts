import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadLetters } from '../../../src/ingest/dead-letter.ts';
import { DecodeError } from '../../../src/events/decode-error.ts';
import { Metrics } from '../../../src/metrics.ts';
import { readableLog, record } from './parts.ts';

function setUp() {
  const { log, lines } = readableLog();
  const metrics = new Metrics();
  const clock = { now: 0 };
  const sink = { send: () => assert.fail('expected nothing to be sent') };
  const deadLetters = new DeadLetters({ sink, metrics, log, now: () => clock.now });
  return { deadLetters, lines, metrics, clock };
}

const poison = { record: record('not json'), error: new DecodeError('not_json', 'expected JSON') };

test('a dead letter is logged with its place and reason, and counted', async () => {
  const { deadLetters, lines, metrics } = setUp();
  deadLetters.note(poison);
  const { topic, partition, offset, reason, level } = lines[0] ?? {};
  assert.deepEqual([topic, partition, offset, reason, level], ['bids', 2, 7, 'not_json', 40]);
  assert.deepEqual((await metrics.deadLetters.get()).values, [
    { value: 1, labels: { topic: 'bids', reason: 'not_json' } },
  ]);
});

test('a flood of poison messages is counted in full and logged in part, with a line that says how many are left out', async () => {
  const { deadLetters, lines, metrics, clock } = setUp();
  for (let count = 0; count < 1_000; count++) deadLetters.note(poison);
  assert.equal(lines.length, 20);
  clock.now = 10_000;
  deadLetters.note(poison);
  assert.equal(lines.length, 22);
  assert.equal(lines[20]?.['count'], 980);
  assert.equal((await metrics.deadLetters.get()).values[0]?.value, 1_001);
});
