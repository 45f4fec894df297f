import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { buildSchema, GraphQLError } from 'graphql';
import type { HistorySettings } from '../../../src/events/history-settings.ts';
import { Renewals, type RenewalServices } from '../../../src/hub/renewals.ts';
import { planSubscription } from '../../../src/hub/subscription-plan.ts';
import { executorFor, prepared } from '../executor/small-executor.ts';
import { binding } from './parts.ts';

function servicesOf(typeOfAmount: string, history?: HistorySettings): RenewalServices {
  const schema = buildSchema(
    `type Query { a: Int } type Subscription { bid(id: ID): Bid } type Bid { amount: ${typeOfAmount} }`,
  );
  const bindings = new Map([['bid', binding]]);
  return {
    executor: executorFor(schema),
    graph: { bindings, streams: new Map([['bids', { name: 'bids', history }]]) },
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

/** What becomes of a subscription. */
function renewed(from: RenewalServices, to: RenewalServices) {
  const operation = prepared(from.executor as never, 'subscription { bid { amount } }');
  const plan = planSubscription(operation, '', {}, from);
  assert.ok('operation' in plan);
  return new Renewals(from, to).of(plan);
}

const HISTORY = { size: 10, ttlMs: 60_000, keepsAll: false };

test('a subscription ends when its topic loses its history, and not when the topic gets one, or another one', () => {
  const [without, short, long] = [undefined, HISTORY, { ...HISTORY, size: 20 }].map((history) =>
    servicesOf('Int', history),
  ) as [RenewalServices, RenewalServices, RenewalServices];
  const ended = renewed(short, without);
  assert.ok(ended instanceof GraphQLError);
  assert.match(ended.message, /The events of bid are not kept any more\./);
  for (const [from, to] of [
    [without, short],
    [short, long],
  ] as const) {
    const next = renewed(from, to);
    assert.ok('hasHistory' in next && next.hasHistory);
  }
});

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
