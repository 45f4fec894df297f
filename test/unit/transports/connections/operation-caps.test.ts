import assert from 'node:assert/strict';
import test from 'node:test';
import type { SubscriptionPlan } from '../../../../src/hub/subscription-plan.ts';
import {
  OperationCaps,
  type CappedConnection,
  type OperationLimits,
} from '../../../../src/transports/connections/operation-caps.ts';
import { Tally } from '../../../../src/transports/connections/viewers.ts';

/** Caps, and a connection that has so much open as all others together, and as its viewer. */
function setUp(limits: Partial<OperationLimits>, operations = 0) {
  const refused: string[] = [];
  const tally = Object.assign(new Tally(), { operations });
  const caps = new OperationCaps(limits, tally, { refused: (reason) => void refused.push(reason) });
  const connection: CappedConnection = {
    operations,
    viewerTally: tally,
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

test('a connection may have as many channels and bytes of variables as its caps say, those that linger included', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { caps, connection, refused } = setUp({
    channelsOfConnection: 2,
    variablesOfConnection: 20,
    lingerMs: 10,
  });
  const plan = { channels: ['a', 'b'], key: 'x'.repeat(10) } as unknown as SubscriptionPlan;
  assert.equal(caps.refusalOf(plan, connection), undefined);
  caps.begun(plan, connection);
  assert.equal(caps.refusalOf(plan, connection)?.extensions['code'], 'TOO_MANY_CHANNELS');
  const long = { channels: [], key: 'x'.repeat(11) } as unknown as SubscriptionPlan;
  assert.equal(caps.refusalOf(long, connection)?.extensions['code'], 'TOO_MANY_VARIABLES');
  caps.ended(plan, connection);
  assert.deepEqual([connection.channels, connection.variables], [2, 0]);
  assert.deepEqual(refused, ['channels_of_connection', 'variables_of_connection']);
});
