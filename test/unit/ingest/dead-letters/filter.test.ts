import assert from 'node:assert/strict';
import { test } from 'node:test';
import { letterFilter, type LetterFilter } from '../../../../src/ingest/dead-letters/filter.ts';
import { letterOf } from '../../../../src/ingest/dead-letters/letter.ts';
import { letter, letterRecord } from './parts.ts';

const one = letter({ origin: 'bids/2/7', reason: 'not_json', time: 1_000, key: Buffer.from('käse') });

const matches = (filter: LetterFilter) => letterFilter(filter)(one);

test('a filter that asks for nothing means all letters', () => {
  assert.equal(matches({}), true);
});

test('topic, reason and key are compared in full', () => {
  for (const [filter, expected] of [
    [{ topic: 'bids' }, true],
    [{ topic: 'bid' }, false],
    [{ reason: 'not_json' }, true],
    [{ reason: 'empty' }, false],
    [{ key: 'käse' }, true],
    [{ key: 'k' }, false],
    [{ key: '' }, false],
  ] as const) {
    assert.equal(matches(filter), expected, JSON.stringify(filter));
  }
  assert.equal(letterFilter({ key: '' })(letter()), false, 'a message without a key has no empty one');
});

test('since takes its time in, until leaves it out', () => {
  for (const [filter, expected] of [
    [{ since: 1_000 }, true],
    [{ since: 1_001 }, false],
    [{ until: 1_001 }, true],
    [{ until: 1_000 }, false],
    [{ since: 500, until: 1_500 }, true],
  ] as const) {
    assert.equal(matches(filter), expected, JSON.stringify(filter));
  }
});

test('a letter without a time is not meant where a time is asked for', () => {
  const { headers, ...rest } = letterRecord();
  const timeless = letterOf({ ...rest, headers: { ...headers, 'sluice-timestamp': undefined } });
  assert.ok(timeless);
  assert.equal(letterFilter({ until: 5_000 })(timeless), false);
  assert.equal(letterFilter({ since: 0 })(timeless), false);
  assert.equal(letterFilter({ topic: 'bids' })(timeless), true);
});

test('all that is asked for must hold', () => {
  assert.equal(matches({ topic: 'bids', reason: 'not_json', key: 'käse' }), true);
  assert.equal(matches({ topic: 'bids', reason: 'empty', key: 'käse' }), false);
});
