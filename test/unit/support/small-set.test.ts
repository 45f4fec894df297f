import assert from 'node:assert/strict';
import test from 'node:test';
import { SmallSet } from '../../../src/support/small-set.ts';

test('a small set works as a set of no, one or many elements', () => {
  const small = new SmallSet();
  const set = new Set<string>();
  for (const step of '-a +a -b -a +a +a +b +c +a -d -b -a -a -c +'.split(' ')) {
    const value = step.slice(1);
    for (const each of [small, set]) each[step.startsWith('+') ? 'add' : 'delete'](value);
    assert.equal(small.size, set.size, step);
    for (const one of ['', 'a', 'b', 'c', 'd'])
      assert.equal(small.has(one), set.has(one), `${one} at ${step}`);
  }
});
