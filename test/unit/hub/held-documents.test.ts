import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeldDocuments } from '../../../src/hub/held-documents.ts';
import { operation, setUp } from './parts.ts';

describe('HeldDocuments', () => {
  it('counts the words of a document, which take far more than its characters', () => {
    const held = new HeldDocuments(1_100);
    assert.equal(held.isTooMuch({ query: '{ one two three four five }' }), false);
    assert.equal(held.isTooMuch({ query: '{ one two three four five six }' }), true);
    assert.equal(held.isTooMuch({ query: `{ ${'x'.repeat(800)} }` }), false);
    assert.equal(held.isTooMuch({ query: `{ ${'x'.repeat(1_000)} }` }), true);
  });

  it('counts each once, as long as it is in use', () => {
    const held = new HeldDocuments(500);
    const [first, second] = [{ query: '{ one two }' }, { query: '{ three }' }];
    held.add(first);
    held.add(first);
    assert.deepEqual([held.isTooMuch(first), held.isTooMuch(second)], [false, true]);
    held.delete(first);
    held.delete(first);
    assert.equal(held.isTooMuch(second), false);
    held.add(second);
    held.clear();
    assert.equal(held.isTooMuch(first), false);
  });
});

describe('a hub', () => {
  it('refuses subscriptions whose documents it has no room for, and not those whose documents are in use', () => {
    const { joinOrCode: join } = setUp({ maxDocuments: 600 });
    const [first, second] = [operation(), operation()];
    const leave = [join(first, '1'), join(first, '2')] as (() => void)[];
    assert.ok(leave.every((each) => typeof each === 'function'));
    assert.equal(join(second, '1'), 'POD_FULL');
    leave[0]?.();
    assert.equal(join(second, '1'), 'POD_FULL');
    leave[1]?.();
    assert.equal(typeof join(second, '1'), 'function');
  });
});
