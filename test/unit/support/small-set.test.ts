import assert from 'node:assert/strict';
import test from 'node:test';
import { SmallSet } from '../../../src/support/small-set.ts';

test('a small set works as a set of no, one or many elements', () => {
  const small = new SmallSet();
  const set = new Set<string>();
  const same = (): void => {
    assert.equal(small.size, set.size);
    for (const value of ['', 'a', 'b', 'c', 'd']) assert.equal(small.has(value), set.has(value), value);
  };
  same();
  for (const value of ['a', 'a', 'b', 'c', 'a']) {
    small.add(value);
    set.add(value);
    same();
  }
  for (const value of ['d', 'b', 'a', 'a', 'c']) {
    small.delete(value);
    set.delete(value);
    same();
  }
  small.add('');
  set.add('');
  same();
});
