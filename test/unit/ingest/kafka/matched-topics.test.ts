import assert from 'node:assert/strict';
import test from 'node:test';
import { MAX_MATCHED } from '../../../../src/graph/topics.ts';
import { MatchedTopics } from '../../../../src/ingest/kafka/matched-topics.ts';
import { range } from '../../../helpers/numbers.ts';
import { topic, topics } from '../parts.ts';

const patterns = (...all: RegExp[]) =>
  topics(topic('named'), ...all.map((pattern) => topic(String(pattern), { pattern })));

/** The topics that begin at their beginning without a position. */
const begun = (matched: MatchedTopics) => matched.names.filter((name) => matched.matched(name)?.isBegun);

/** What Kafka has at each look. */
function looked(...looks: readonly (readonly string[])[]): MatchedTopics {
  const matched = new MatchedTopics();
  matched.use(patterns(/^a-/, /^b-/));
  for (const there of looks) matched.look(there, new Set(['named', 'a-named']));
  return matched;
}

test('what matches a pattern is taken up, but topics that the graph names, and those of Kafka itself', () => {
  const all = looked(['b-1', 'c-1', 'a-named', 'a-1', 'named']);
  assert.deepEqual(all.names, ['a-1', 'b-1']);
  const every = new MatchedTopics();
  every.use(patterns(/./));
  every.look(['__consumer_offsets', 'x'], new Set());
  assert.deepEqual(every.names, ['x']);
  every.use(patterns(/^y/));
  assert.deepEqual(every.names, []);
});

test('a topic is new if it was not there before, or if the group has begun with its pattern', () => {
  const first = looked(['a-1', 'a-2', 'b-1']);
  assert.deepEqual(begun(first), [], 'the group begins with the pattern');
  assert.equal(first.matched('named'), undefined);
  const marks = first.matched('a-1')?.patterns ?? '';
  first.noteTexts([
    null,
    'sluice1 A 1',
    'sluice1 A 1 patterns=other',
    `sluice1 A 1 bus=b patterns=x,${marks}`,
  ]);
  assert.deepEqual(
    begun(first),
    ['a-1', 'a-2'],
    'the group has begun with one pattern, and not with the other',
  );
  const second = looked(['a-1'], ['a-1', 'a-2', 'b-1']);
  assert.deepEqual(begun(second), ['a-2', 'b-1'], 'they have appeared');
  second.joined();
  assert.deepEqual(begun(second), ['a-1', 'a-2', 'b-1']);
});

test('a pattern that is wider than another, or takes the place of a name, is one that the group has not begun with', () => {
  const matched = looked(['a-1', 'b-1']);
  matched.joined();
  matched.use(patterns(/^a-/, /^(b|c)-/));
  // Until it has looked, this process has not joined by the new pattern.
  matched.joined();
  matched.look(['a-1', 'b-1', 'c-1'], new Set());
  assert.deepEqual(begun(matched), ['a-1']);
  matched.look(['a-1', 'b-1', 'c-1', 'c-2'], new Set());
  assert.deepEqual(begun(matched), ['a-1', 'c-2']);
  matched.look(['a-1', 'b-1', 'c-1'], new Set());
  matched.joined();
  assert.deepEqual(begun(matched), ['a-1', 'b-1', 'c-1']);
});

test('of too many topics the first ones are consumed, and it is told', () => {
  const names = range(0, MAX_MATCHED + 2).map((n) => `a-${String(n).padStart(5, '0')}`);
  const most = looked(names.slice(0, MAX_MATCHED));
  assert.deepEqual([most.names.length, most.refusal], [MAX_MATCHED, undefined]);
  const more = looked(names.toReversed());
  assert.deepEqual([more.names[0], more.names.length], ['a-00000', MAX_MATCHED]);
  assert.match(more.refusal ?? '', /expected at most 1000 topics to match \/\^a-\/, \/\^b-\/, got 1002:/);
  assert.equal(looked(names, names.slice(0, 5)).refusal, undefined);
});
