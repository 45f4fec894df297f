import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import test from 'node:test';
import type { SubscriptionPlan } from '../../../../src/hub/subscription-plan.ts';
import { AccessError } from '../../../../src/graph/auth/refusal.ts';
import type { OperationCaps } from '../../../../src/transports/connections/operation-caps.ts';
import { RefusedSubscriptions } from '../../../../src/transports/connections/refused-subscriptions.ts';
import { Subscriptions } from '../../../../src/transports/connections/subscriptions.ts';
import type { ClientSubscription } from '../../../../src/transports/delivery/client-subscription.ts';

const plan = (field: string, name?: string): SubscriptionPlan =>
  ({ field, topic: 'bids', operation: { name } }) as unknown as SubscriptionPlan;

const forbidden = new GraphQLError('The viewer may not.', { extensions: { code: 'FORBIDDEN' } });

test('what is refused a connection is kept with its time, and not told of another one', () => {
  const refused = new RefusedSubscriptions(() => 5_000);
  const connection = {};
  refused.add(connection, plan('own', 'Own'), forbidden, true);
  const told = { at: 5_000, isNew: true, message: 'The viewer may not.', code: 'FORBIDDEN' };
  assert.deepEqual(refused.of(connection), [{ field: 'own', topic: 'bids', operation: 'Own', ...told }]);
  assert.deepEqual(refused.of({}), []);
});

test('of each connection the last five are kept, and the first 100 characters of names', () => {
  const refused = new RefusedSubscriptions(() => 0);
  const connection = {};
  for (let index = 0; index < 7; index += 1)
    refused.add(connection, plan(`field${index}`, 'x'.repeat(1_000)), forbidden, true);
  const kept = refused.of(connection);
  const fields = kept.map(({ field }) => field);
  assert.deepEqual(fields, ['field2', 'field3', 'field4', 'field5', 'field6']);
  assert.equal(kept[0]?.operation?.length, 101);
});

test('a subscription that ends as its new viewer may not hold it is kept, one that is left is not', () => {
  const refused = new RefusedSubscriptions(() => 0);
  const connection = {
    operations: 0,
    viewerTally: undefined,
    client: undefined,
    open: true,
    channels: 0,
    variables: 0,
  };
  const caps = { ended: () => undefined } as unknown as OperationCaps;
  const hub = { join: () => assert.fail('it has joined'), leave: () => undefined };
  const subscriptions = new Subscriptions(hub, caps, refused);
  const error = new AccessError('The viewer may not.', { extensions: { code: 'FORBIDDEN' } });
  const leave = (field: string, ended: readonly GraphQLError[]): void =>
    subscriptions.leave({ group: { plan: plan(field) }, ended } as unknown as ClientSubscription, connection);
  leave('left', []);
  leave('failed', [new GraphQLError('another fault')]);
  leave('own', [error]);
  const left = refused.of(connection).map(({ field, isNew }) => [field, isNew]);
  assert.deepEqual(left, [['own', false]]);
});
