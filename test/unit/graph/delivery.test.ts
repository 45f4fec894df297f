import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event } from '../../../src/events/event.ts';
import { deliveryOf } from '../../../src/graph/bindings.ts';

const delivery = deliveryOf({ conflateBy: 'symbol', throttleMs: 5, onSlow: 'CONFLATE' });
const keyOf = (event: Event): string | undefined => delivery?.keyOf(event);

test('events without the field that they are conflated by are one key, which no value has', () => {
  assert.equal(keyOf({}), keyOf({ price: 7 }));
  assert.equal(keyOf({}), keyOf({ symbol: null }));
  for (const symbol of ['', 'null', 0, false]) assert.notEqual(keyOf({}), keyOf({ symbol }));
});

test('a number is the same key as its text, and no other value is', () => {
  assert.equal(keyOf({ symbol: 7 }), keyOf({ symbol: '7' }));
  assert.notEqual(keyOf({ symbol: true }), keyOf({ symbol: 'true' }));
  assert.notEqual(keyOf({ symbol: 7 }), keyOf({ symbol: 70 }));
});

test('a path leads to a value inside of an event, and none there is as an absent field', () => {
  const nested = deliveryOf({ conflateBy: 'seller.id', throttleMs: 5, onSlow: 'DISCONNECT' });
  assert.ok(nested);
  assert.notEqual(nested.keyOf({ seller: { id: 1 } }), nested.keyOf({ seller: { id: 2 } }));
  assert.equal(nested.keyOf({ seller: { id: 1 } }), nested.keyOf({ seller: { id: '1', name: 'b' } }));
  for (const seller of [null, 'a', [], {}, { id: null }])
    assert.equal(nested.keyOf({ seller }), nested.keyOf({}));
});

test('what an event inherits is no key', () => {
  const inherited = deliveryOf({ conflateBy: 'constructor', throttleMs: 5, onSlow: 'DISCONNECT' });
  assert.equal(inherited?.keyOf({}), inherited?.keyOf({ constructor: null }));
});

test('without a field all events are one key', () => {
  const all = deliveryOf({ conflateBy: undefined, throttleMs: 5, onSlow: 'DISCONNECT' });
  assert.equal(all?.keyOf({ symbol: 'a' }), all?.keyOf({ symbol: 'b' }));
});

test('a field of which nothing is left out has no delivery', () => {
  assert.equal(deliveryOf({ conflateBy: undefined, throttleMs: 0, onSlow: 'DISCONNECT' }), undefined);
});
