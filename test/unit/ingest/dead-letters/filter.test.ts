import assert from 'node:assert/strict';
import { test } from 'node:test';
import { letterFilter } from '../../../../src/ingest/dead-letters/filter.ts';
import { letterOf } from '../../../../src/ingest/dead-letters/letter.ts';
import { letter, letterRecord } from './parts.ts';

const one = letter({ origin: 'bids/2/7', reason: 'not_json', time: 1_000, key: Buffer.from('käse') });

for (const [filter, expected] of [
  [{}, true],
  [{ topic: 'bids' }, true],
  [{ topic: 'bid' }, false],
  [{ reason: 'not_json' }, true],
  [{ reason: 'empty' }, false],
  [{ key: 'käse' }, true],
  [{ key: 'k' }, false],
  [{ key: '' }, false],
  [{ since: 1_000 }, true],
  [{ since: 1_001 }, false],
  [{ until: 1_001 }, true],
  [{ until: 1_000 }, false],
  [{ since: 500, until: 1_500 }, true],
  [{ topic: 'bids', reason: 'not_json', key: 'käse' }, true],
  [{ topic: 'bids', reason: 'empty', key: 'käse' }, false],
] as const) {
  test(`a letter of bids, not_json, käse, at 1000 is ${expected ? '' : 'not '}meant by ${JSON.stringify(filter)}`, () => {
    assert.equal(letterFilter(filter)(one), expected);
  });
}

test('a message without a key has no empty one', () => {
  assert.equal(letterFilter({ key: '' })(letter()), false);
});

test('a letter without a time is not meant where a time is asked for', () => {
  const { headers, ...rest } = letterRecord();
  const timeless = letterOf({ ...rest, headers: { ...headers, 'sluice-timestamp': undefined } });
  assert.ok(timeless);
  assert.equal(letterFilter({ until: 5_000 })(timeless), false);
  assert.equal(letterFilter({ since: 0 })(timeless), false);
  assert.equal(letterFilter({ topic: 'bids' })(timeless), true);
});
