import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecodeError } from '../../../../src/events/decode-error.ts';
import { DeadLetters, type DeadLetterMessage } from '../../../../src/ingest/dead-letter.ts';
import { letterOf, replayOf } from '../../../../src/ingest/dead-letters/letter.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { readableLog, record } from '../parts.ts';
import { letter, letterRecord } from './parts.ts';

test('what the gateway writes is read back, and becomes the message that it was', async () => {
  const sent: DeadLetterMessage[] = [];
  const sink = { send: async (messages: readonly DeadLetterMessage[]) => void sent.push(...messages) };
  const others = { metrics: new Metrics(), log: readableLog().log, now: () => 0 };
  const deadLetters = new DeadLetters({ sink, ...others });
  const headers = { trace: Buffer.from('t'), tags: [Buffer.from('a'), Buffer.from('b')] };
  const message = record('not json', { key: Buffer.from('k'), headers });
  await deadLetters.send([{ record: message, error: new DecodeError('not_json', 'expected JSON') }]);

  const read = letterOf(record(sent[0]?.value ?? null, { topic: 'dead', offset: 3, ...sent[0] }));
  assert.ok(read);
  assert.deepEqual(read.origin, { topic: 'bids', partition: 2, offset: 7 });
  assert.deepEqual([read.time, read.reason, read.lastOffset], [1_000, 'not_json', undefined]);
  assert.deepEqual(replayOf(read), {
    topic: 'bids',
    partition: 2,
    key: Buffer.from('k'),
    value: Buffer.from('not json'),
    headers: { ...headers, 'sluice-replayed-from': 'bids/2/7' },
  });
});

test('a letter of a bad batch has a range of offsets, no time, and nothing to replay', () => {
  const headers = {
    'sluice-topic': 'bids',
    'sluice-partition': '2',
    'sluice-offset': '7',
    'sluice-last-offset': '11',
    'sluice-reason': 'bad_batch',
  };
  const read = letterOf(record(null, { topic: 'dead', headers }));
  assert.ok(read);
  assert.deepEqual([read.origin.offset, read.lastOffset, read.time], [7, 11, undefined]);
  assert.equal(replayOf(read), undefined);
});

test('a letter whose value was too large to be kept has nothing to replay', () => {
  assert.equal(replayOf(letter({ value: null, headers: { 'sluice-bytes-left-out': '900000' } })), undefined);
});

test('a message that failed again says where it was first, and is replayed from where it was last', () => {
  const again = letter({ origin: 'bids/2/9', headers: { 'sluice-replayed-from': Buffer.from('bids/2/7') } });
  assert.equal(again.replayedFrom, 'bids/2/7');
  assert.deepEqual(replayOf(again)?.headers, { 'sluice-replayed-from': 'bids/2/9' });
});

test('a message without a timestamp has no time', () => {
  assert.equal(letter({ time: -1 }).time, undefined);
});

test('an empty value is replayed', () => {
  assert.deepEqual(replayOf(letter({ value: '' }))?.value, Buffer.alloc(0));
});

test('a record without the headers of a dead letter, or with others in their place, is none', () => {
  assert.equal(letterOf(record('{}')), undefined);
  const { headers } = letterRecord();
  for (const [name, value] of [
    ['sluice-topic', 'a topic'],
    ['sluice-topic', ['bids', 'bids']],
    ['sluice-partition', '-1'],
    ['sluice-offset', '1e3'],
    ['sluice-offset', '9999999999999999'],
    ['sluice-reason', '\u001b[2J'],
    ['sluice-reason', undefined],
  ] as const) {
    const other = { ...headers, [name]: value as string | undefined };
    assert.equal(letterOf(record('{}', { headers: other })), undefined, `${name}: ${String(value)}`);
  }
});
