import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { buildSchema, GraphQLError } from 'graphql';
import { Renewals, type RenewalServices } from '../../../src/hub/renewals.ts';
import { planSubscription } from '../../../src/hub/subscription-plan.ts';
import { executorFor, prepared } from '../executor/small-executor.ts';
import { binding } from './parts.ts';

function servicesOf(typeOfAmount: string): RenewalServices {
  const schema = buildSchema(
    `type Query { a: Int } type Subscription { bid(id: ID): Bid } type Bid { amount: ${typeOfAmount} }`,
  );
  const bindings = new Map([['bid', binding]]);
  return {
    executor: executorFor(schema),
    graph: { bindings, topics: new Map() },
    channelPrefix: '',
    maxChannels: 10,
  };
}

/** What becomes of two subscriptions with the same operation, where a type is replaced. */
function outcomesOf(t: TestContext, type: string) {
  const from = servicesOf('Int');
  const operation = prepared(from.executor as never, 'subscription ($id: ID) { bid(id: $id) { amount } }');
  const looked = t.mock.method(from.executor, 'selectedTypes');
  const renewals = new Renewals(from, servicesOf(type));
  const outcomes = ['1', '2'].map((id) => {
    const plan = planSubscription(operation, id, { id }, from);
    assert.ok('operation' in plan);
    return renewals.of(plan);
  });
  assert.equal(looked.mock.callCount(), 1, 'types are compared once for each operation');
  return { operation, outcomes };
}

test('when the type of a field changes, each subscription that selects it ends', (t) => {
  for (const outcome of outcomesOf(t, 'String').outcomes) {
    assert.ok(outcome instanceof GraphQLError);
    assert.match(outcome.message, /The type of amount is another one/);
  }
});

test('subscriptions of which nothing changes go on by plans for the new graph', (t) => {
  const { operation, outcomes } = outcomesOf(t, 'Int');
  for (const [index, outcome] of outcomes.entries()) {
    assert.ok('operation' in outcome && outcome.operation !== operation);
    assert.deepEqual(outcome.channels, [`bids:id=${index + 1}`]);
  }
});
