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
assert.ok(badBatch);

test('a line has origin, time, reason, key, size, and the place in the dead-letter topic', () => {
  assert.equal(letterLine(MESSAGE), 'bids/2/7  2026-05-01T00:00:00.000Z  not_json  "42"  8 bytes  dead/0/17');
  // A dash for what there is not, and the range of a bad batch.
  assert.equal(letterLine(badBatch), 'bids/2/7-11  -  bad_batch  -  no value  dead/2/7');
  const again = letter({ headers: { 'sluice-replayed-from': 'bids/2/1' } });
  assert.match(letterLine(again), / {2}replayed from bids\/2\/1$/);
  assert.match(letterLine(letter({ time: 9e15 })), /^bids\/2\/7 {2}- {2}/, 'a time that no calendar has');
});

test('a key can not control the terminal, or begin a new line', () => {
  const line = letterLine(letter({ key: Buffer.from('\u001b[2J\n\u009b31m\u202e"') }));
  assert.match(line, / {2}"\\u001b\[2J\\n\\u009b31m\\u202e\\""  /);
});

test('JSON has the same, with null for what there is not', () => {
  const origin = { topic: 'bids', partition: 2, offset: 7 };
  assert.deepEqual(JSON.parse(letterJson(MESSAGE)), {
    ...origin,
    time: '2026-05-01T00:00:00.000Z',
    reason: 'not_json',
    key: '42',
    bytes: 8,
    letter: { topic: 'dead', partition: 0, offset: 17 },
  });
  assert.deepEqual(JSON.parse(letterJson(badBatch)), {
    ...origin,
    lastOffset: 11,
    time: null,
    reason: 'bad_batch',
    key: null,
    bytes: null,
    letter: { topic: 'dead', partition: 2, offset: 7 },
  });
});
