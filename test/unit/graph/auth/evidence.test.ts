import assert from 'node:assert/strict';
import test from 'node:test';
import { Kind } from 'graphql';
import { allPass } from '../../../../src/graph/auth/evidence.ts';
import type { Rule } from '../../../../src/graph/auth/rule.ts';
import { RecordedViewer } from '../../../../src/lazy/recorded-viewer.ts';

const OWNED: Rule = [
  [{ kind: 'field', claim: ['id'], field: ['owner', 'id'], node: { kind: Kind.STRING, value: 'owner.id' } }],
];

const mayAnn = (value: unknown): boolean =>
  allPass([OWNED], { viewer: new RecordedViewer({ id: 'ann' }), args: {}, source: { value } });

test('an owner is what an object has itself, or by a getter of its class', () => {
  class Order {
    get owner(): object {
      return { id: 'ann' };
    }
  }
  assert.ok(mayAnn({ owner: { id: 'ann' } }));
  assert.ok(mayAnn(new Order()));
  assert.ok(!mayAnn({ owner: { id: 'bob' } }));
  assert.ok(!mayAnn({ owner: {} }));
});

test('an owner is not what code has given to all objects', () => {
  const all = Object.prototype as { id?: string };
  Object.defineProperty(all, 'id', { value: 'ann', configurable: true });
  try {
    assert.ok(!mayAnn({ owner: {} }));
    assert.ok(mayAnn({ owner: Object.create(null, { id: { value: 'ann' } }) as object }));
  } finally {
    delete all.id;
  }
});
