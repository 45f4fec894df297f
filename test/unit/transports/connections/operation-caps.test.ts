import assert from 'node:assert/strict';
import test from 'node:test';
import type { SubscriptionPlan } from '../../../../src/hub/subscription-plan.ts';
import {
  OperationCaps,
  type CappedConnection,
  type OperationLimits,
} from '../../../../src/transports/connections/operation-caps.ts';
import { PodTally } from '../../../../src/transports/connections/viewers.ts';
import { holdTime } from '../../turns.ts';

const planOf = (channels: readonly string[], keyBytes = 0) =>
  ({ channels, key: 'x'.repeat(keyBytes) }) as unknown as SubscriptionPlan;

/** Caps, and a connection that has so much open as all others together, and as its viewer. */
function setUp(limits: Partial<OperationLimits>, operations = 0, client?: string) {
  const refused: string[] = [];
  const tally = new PodTally();
  tally.count(operations, client);
  const caps = new OperationCaps(limits, tally, { refused: (reason) => void refused.push(reason) });
  const connection: CappedConnection = {
    operations,
    viewerTally: tally,
    client,
    open: true,
    channels: 0,
    variables: 0,
  };
  return { caps, connection, refused };
}

for (const [limit, reason, code] of [
  ['operationsOfConnection', 'operations_of_connection', 'TOO_MANY_OPERATIONS'],
  ['operationsOfViewer', 'operations_of_viewer', 'TOO_MANY_OPERATIONS'],
  ['operationsOfPod', 'operations', 'POD_FULL'],
] as const) {
  test(`as many operations may be open as ${limit} says, and not one more`, () => {
    const last = setUp({ [limit]: 3 }, 3);
    assert.deepEqual([last.caps.refusal(last.connection, '1'), last.refused], [undefined, []]);
    const { caps, connection, refused } = setUp({ [limit]: 3 }, 4);
    assert.equal(caps.refusal(connection, '1')?.extensions['code'], code);
    assert.deepEqual(refused, [reason]);
  });
}

test('a client may have no more operations than three times what the pod has left, and others may have these', () => {
  const { caps, connection, refused } = setUp({ operationsOfPod: 100 }, 75, 'greedy');
  assert.equal(caps.refusal(connection, '1'), undefined);
  const beyond = setUp({ operationsOfPod: 100 }, 76, 'greedy');
  assert.equal(beyond.caps.refusal(beyond.connection, '1')?.extensions['code'], 'POD_FULL');
  assert.deepEqual([refused, beyond.refused], [[], ['share_of_client']]);
  for (const client of ['modest', undefined]) {
    assert.equal(beyond.caps.refusal({ ...beyond.connection, client }, '1'), undefined);
  }
});

test('a connection may have as many channels and bytes of variables as its caps say, those that linger included', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const limits = { channelsOfConnection: 2, variablesOfConnection: 20, lingerMs: 10 };
  const { caps, connection, refused } = setUp(limits);
  const plan = planOf(['a', 'b'], 10);
  assert.equal(caps.refusalOf(plan, connection), undefined);
  caps.begun(plan, connection);
  assert.equal(caps.refusalOf(plan, connection)?.extensions['code'], 'TOO_MANY_CHANNELS');
  assert.equal(caps.refusalOf(planOf([], 11), connection)?.extensions['code'], 'TOO_MANY_VARIABLES');
  caps.ended(plan, connection);
  assert.deepEqual([connection.channels, connection.variables], [2, 0]);
  assert.deepEqual(refused, ['channels_of_connection', 'variables_of_connection']);
});

/** A connection that may have two channels, and subscribes to them and leaves them. */
function setUpKept() {
  const { caps, connection } = setUp({ channelsOfConnection: 2, lingerMs: 10 });
  const codeOf = (...channels: string[]): unknown =>
    caps.refusalOf(planOf(channels), connection)?.extensions['code'];
  const subscribe = (...channels: string[]): void => caps.begun(planOf(channels), connection);
  const leave = (...channels: string[]): void => caps.ended(planOf(channels), connection);
  const caused = (...channels: string[]): void => caps.caused(channels, 100, connection);
  return { codeOf, subscribe, leave, caused };
}

test('channels that are kept since a connection has asked for them count as its own until they are not kept any more', (t) => {
  const pass = holdTime(t);
  const { codeOf, subscribe, leave, caused } = setUpKept();
  caused('a', 'b');
  subscribe('a', 'b');
  leave('a', 'b');
  pass(99);
  assert.equal(codeOf('c'), 'TOO_MANY_CHANNELS');
  assert.equal(codeOf('a', 'b'), undefined, 'they count already');
  assert.equal(codeOf('a', 'c'), 'TOO_MANY_CHANNELS');
  subscribe('a');
  pass(1);
  assert.equal(codeOf('c'), undefined, 'b is not kept any more');
  assert.equal(codeOf('c', 'd'), 'TOO_MANY_CHANNELS');
  leave('a');
  pass(99);
  assert.equal(codeOf('c', 'd'), 'TOO_MANY_CHANNELS');
  pass(1);
  assert.equal(codeOf('c', 'd'), undefined);
});

test('a channel that was kept before counts for no longer than it lingers, and one of two subscriptions only once', (t) => {
  const pass = holdTime(t);
  const { codeOf, subscribe, leave, caused } = setUpKept();
  caused('a');
  subscribe('a');
  subscribe('a');
  assert.equal(codeOf('b'), 'TOO_MANY_CHANNELS');
  leave('a');
  assert.equal(codeOf('b'), undefined);
  leave('a');
  subscribe('b');
  leave('b');
  assert.equal(codeOf('c'), 'TOO_MANY_CHANNELS', 'b lingers');
  pass(10);
  assert.equal(codeOf('c'), undefined);
  assert.equal(codeOf('c', 'd'), 'TOO_MANY_CHANNELS', 'a is kept');
});
