import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newExecutor, prepared } from './small-executor.ts';

describe('subscriptionField', () => {
  it('gives the root field and its coerced arguments, defaults included, under any alias', () => {
    const executor = newExecutor();
    const query =
      'subscription ($id: ID, $ids: [ID!]) { ...R } fragment R on Subscription { e: event(id: $id, ids: $ids) { id } }';
    const found = executor.subscriptionField(prepared(executor, query), { id: 7, ids: 'one', more: 1 });
    assert.deepEqual(found, { field: 'event', args: { id: '7', ids: ['one'], first: 5 } });
  });

  it('leaves out arguments whose variables are absent', () => {
    const executor = newExecutor();
    const operation = prepared(executor, 'subscription ($id: ID) { event(id: $id, first: null) { id } }');
    assert.deepEqual(executor.subscriptionField(operation, {}), { field: 'event', args: { first: null } });
  });

  it('gives an error for an operation that is not a subscription', () => {
    const executor = newExecutor();
    const errors = executor.subscriptionField(prepared(executor, '{ event { id } }'), {});
    assert.match(JSON.stringify(errors), /Expected a subscription to one field, got a query/);
  });
});
