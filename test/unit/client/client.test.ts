import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Living } from '../../helpers/living.ts';
import { subscribed, Subscriber, wrapped } from './subscriber.ts';

test('Errors and completion reach the subscriber, and unsubscribing is passed on', () => {
  const { server, client, operation, subscriber, stop } = subscribed();
  const error = new Error('over');
  operation.error(error);
  client.subscribe({}, subscriber);
  server.operation.complete();
  assert.deepEqual(subscriber.ends, [error, 'complete']);
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
  const sinks = new Living();
  const subscribe = (): void => {
    const sink = new Subscriber();
    sinks.add(sink);
    const stop = client.subscribe({}, sink);
    server.connect();
    server.operation.greet(true, 'c0');
    server.operation.event(1, 'c1');
    stop();
    server.operations.length = 0;
  };
  for (let count = 0; count < 3; count += 1) subscribe();
  assert.equal(await sinks.count(), 0);
  assert.ok(client.subscribe({}, new Subscriber()), 'the client is in use still');
});
