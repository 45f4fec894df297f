import assert from 'node:assert/strict';
import test from 'node:test';
import { Interned } from '../../../src/support/interned.ts';

const viewer = (id: number) => Object.freeze({ id, roles: Object.freeze(['bidder']) });

test('equal values become one object, different ones do not', () => {
  const interned = new Interned();
  const first = viewer(1);
  assert.equal(interned.of(first), first);
  assert.equal(interned.of(viewer(1)), first);
  const other = viewer(2);
  assert.equal(interned.of(other), other);
  assert.notEqual(interned.of(Object.freeze({ id: '1', roles: Object.freeze(['bidder']) })), first);
});

test('the last 512 values are kept, and one that is used again stays', () => {
  const interned = new Interned();
  const first = viewer(0);
  const second = viewer(1);
  interned.of(first);
  interned.of(second);
  const held = Array.from({ length: 511 }, (_, index) => viewer(index + 2));
  for (const one of held) {
    interned.of(one);
    assert.equal(interned.of(viewer(0)), first);
  }
  assert.equal(interned.size, 512);
  assert.notEqual(interned.of(viewer(1)), second);
});
