import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { subscribed, Subscriber, wrapped } from './subscriber.ts';

test('Errors and completion reach the subscriber', () => {
  const { server, client, operation, subscriber } = subscribed();
  const error = new Error('over');
  operation.error(error);
  client.subscribe({}, subscriber);
  server.operation.complete();
  assert.deepEqual(subscriber.ends, [error, 'complete']);
});

test('Unsubscribing is passed on', () => {
  const { operation, stop } = subscribed();
  assert.equal(operation.isStopped, false);
  stop();
  assert.equal(operation.isStopped, true);
});

test('All else of the client is there', () => {
  const { client, server } = wrapped();
  assert.equal(client.dispose(), 'disposed');
  assert.equal(client.on, server.on);
});

test('Nothing is kept of subscriptions that have ended', async () => {
  const { server, client } = wrapped();
  const sinks = Array.from({ length: 3 }, () => {
    const sink = new Subscriber();
    const stop = client.subscribe({}, sink);
    server.connect();
    server.operation.greet(true, 'c0');
    server.operation.event(1, 'c1');
    stop();
    server.operations.length = 0;
    return new WeakRef(sink);
  });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 5; round++) {
    await nextTurn();
    collect();
  }
  assert.deepEqual(
    sinks.map((sink) => sink.deref()?.numbers),
    [undefined, undefined, undefined],
  );
  assert.ok(client.subscribe({}, new Subscriber()), 'the client is in use still');
});
