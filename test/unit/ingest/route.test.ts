import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/events/event.ts';
import { MAX_EVENT_CHANNELS, route } from '../../../src/ingest/route.ts';
import { range } from '../../helpers/numbers.ts';
import { topic } from './parts.ts';

const channels = (event: Event, ...keys: string[]) => route(event, topic('t', { keys }), 'p:');

test('an event always goes to the channel of its whole topic', () => {
  assert.deepEqual(channels({ id: 1 }), ['p:t']);
});

test('a number, text or boolean under a key has a channel', () => {
  assert.deepEqual(channels({ a: 1, b: 'x y', c: false }, 'a', 'b', 'c'), [
    'p:t',
    'p:t:a=1',
    'p:t:b=x%20y',
    'p:t:c=false',
  ]);
});

test('a missing key, null, an object, or a key that every object inherits has no channel', () => {
  assert.deepEqual(channels({ a: null, b: { c: 1 } }, 'a', 'b', 'missing', 'constructor', 'toString'), [
    'p:t',
  ]);
});

test('each distinct element of a list has a channel, nulls and objects in it have none', () => {
  assert.deepEqual(channels({ a: [1, '1', 2, null, { x: 1 }, [3], 2] }, 'a'), ['p:t', 'p:t:a=1', 'p:t:a=2']);
});

test('half of a surrogate pair, which no channel can name, has no channel', () => {
  assert.deepEqual(channels({ a: '\ud800', b: ['\udc00', 'x'] }, 'a', 'b'), ['p:t', 'p:t:b=x']);
});

test('a list with too many distinct elements is refused, one with many equal elements is not', () => {
  assert.equal(channels({ a: range(0, MAX_EVENT_CHANNELS - 1) }, 'a').length, MAX_EVENT_CHANNELS);
  assert.throws(() => channels({ a: range(0, MAX_EVENT_CHANNELS) }, 'a'), { reason: 'too_many_keys' });
  assert.equal(channels({ a: range(0, 10_000).map(() => 7) }, 'a').length, 2);
});
