import assert from 'node:assert/strict';
import { test } from 'node:test';
import { letterJson, letterLine } from '../../../src/cli/letter-lines.ts';
import { letterOf } from '../../../src/ingest/dead-letters/letter.ts';
import { record } from '../ingest/parts.ts';
import { letter } from '../ingest/dead-letters/parts.ts';

const MESSAGE = letter({ time: Date.UTC(2026, 4, 1), key: Buffer.from('42') });
const badBatch = letterOf(
  record(null, {
    topic: 'dead',
    headers: {
      'sluice-topic': 'bids',
      'sluice-partition': '2',
      'sluice-offset': '7',
      'sluice-last-offset': '11',
      'sluice-reason': 'bad_batch',
    },
  }),
);

test('a line has origin, time, reason, key, size, and the place in the dead-letter topic', () => {
  assert.equal(letterLine(MESSAGE), 'bids/2/7  2026-05-01T00:00:00.000Z  not_json  "42"  8 bytes  dead/0/17');
});

test('a line has a dash for what there is not, and the range of a bad batch', () => {
  assert.ok(badBatch);
  assert.equal(letterLine(badBatch), 'bids/2/7-11  -  bad_batch  -  no value  dead/2/7');
});

test('a line of what has failed again says from where it was replayed', () => {
  const again = letter({ headers: { 'sluice-replayed-from': 'bids/2/1' } });
  assert.match(letterLine(again), / {2}replayed from bids\/2\/1$/);
});

test('a key can not control the terminal, or begin a new line', () => {
  const line = letterLine(letter({ key: Buffer.from('\u001b[2J\n\u009b31m\u202e"') }));
  assert.match(line, / {2}"\\u001b\[2J\\n\\u009b31m\\u202e\\""  /);
});

test('JSON has the same, with null for what there is not', () => {
  assert.deepEqual(JSON.parse(letterJson(MESSAGE)), {
    topic: 'bids',
    partition: 2,
    offset: 7,
    time: '2026-05-01T00:00:00.000Z',
    reason: 'not_json',
    key: '42',
    bytes: 8,
    letter: { topic: 'dead', partition: 0, offset: 17 },
  });
  assert.ok(badBatch);
  assert.deepEqual(JSON.parse(letterJson(badBatch)), {
    topic: 'bids',
    partition: 2,
    offset: 7,
    lastOffset: 11,
    time: null,
    reason: 'bad_batch',
    key: null,
    bytes: null,
    letter: { topic: 'dead', partition: 2, offset: 7 },
  });
});

test('a time that no calendar has is none', () => {
  assert.match(letterLine(letter({ time: 9e15 })), /^bids\/2\/7 {2}- {2}/);
});
