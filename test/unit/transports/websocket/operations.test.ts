import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import test from 'node:test';
import type { Operation } from '../../../../src/executor/operation.ts';
import type { Group } from '../../../../src/hub/group.ts';
import { createLog } from '../../../../src/log.ts';
import type { OperationCaps } from '../../../../src/transports/connections/operation-caps.ts';
import { Subscriptions } from '../../../../src/transports/connections/subscriptions.ts';
import type { Connection } from '../../../../src/transports/websocket/connection.ts';
import { Operations, type OperationOptions } from '../../../../src/transports/websocket/operations.ts';
import { WebSocketSubscription } from '../../../../src/transports/websocket/subscription.ts';

/** Begins a subscription, which the hub answers so. */
function started(joined: Group | readonly GraphQLError[]) {
  const over: string[] = [];
  const operation = { kind: 'subscription', document: {}, query: 'shared' } as unknown as Operation;
  const caps = { refusal: () => undefined, begun: () => undefined } as unknown as OperationCaps;
  const hub = { join: () => joined, leave: () => undefined };
  const operations = new Operations({
    admission: { prepare: () => operation },
    subscriptions: new Subscriptions(hub, caps),
    log: createLog('silent'),
  } as Partial<OperationOptions> as OperationOptions);
  const openOperations = { over: (id: string) => void over.push(id) };
  const connection = { viewer: null, openOperations, joined: () => undefined } as unknown as Connection;
  const payload = { query: 'own', variables: { n: 1 }, extensions: { gaps: true } };
  return { begun: operations.start(connection, '1', payload), payload, over };
}

test('a subscription that may not join a group is over at once, with the reason', () => {
  const errors = [new GraphQLError('expected fewer')];
  const { begun, over } = started(errors);
  assert.equal(begun, errors);
  assert.deepEqual(over, ['1']);
});

test('a subscription that has joined goes on, and its message holds what all of its group share', () => {
  const { begun, payload, over } = started({ plan: { variables: { n: 1 } } } as unknown as Group);
  assert.ok(begun instanceof WebSocketSubscription);
  assert.deepEqual(payload, { query: 'shared', variables: { n: 1 }, extensions: undefined });
  assert.deepEqual(over, []);
});
