import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resumable } from '../../../src/client/client.ts';
import { FakeClient } from './fake-client.ts';
import { begun, subscribed, Subscriber } from './subscriber.ts';

test('What was left out by choice is told before the event that stands for it, and is no gap', () => {
  const { payload, operation, subscriber, gaps, skips } = begun();
  operation.skip(3, 5, 'c5');
  operation.event(6, 'c6');
  assert.deepEqual(skips, [{ payload, skipped: 3 }]);
  assert.equal(skips[0]?.payload, payload);
  assert.deepEqual(subscriber.numbers, [1, 5, 6]);
  assert.deepEqual(gaps, []);
});

test('A subscription goes on behind an event that stands for others', () => {
  const { operation, skips, subscriber, reconnect } = begun();
  operation.skip(2, 3, 'c3');
  reconnect(true, 'c0');
  operation.skip(2, 3, 'c3');
  operation.event(4, 'c4');
  assert.deepEqual(operation.resumes, [null, 'c3']);
  assert.deepEqual(subscriber.numbers, [1, 3, 4]);
  assert.equal(skips.length, 1, 'an event that comes twice is told once');
});

test('What was left out is told without history, too', () => {
  const { payload, operation, subscriber, skips } = subscribed();
  operation.greet(false);
  operation.skip(7, 8);
  assert.deepEqual(skips, [{ payload, skipped: 7 }]);
  assert.deepEqual(subscriber.numbers, [8]);
});

test('A page that does not ask what was left out gets the events all the same', () => {
  const server = new FakeClient();
  const client = resumable(server, { onGap: () => assert.fail('nothing is missing') });
  const subscriber = new Subscriber();
  client.subscribe({}, subscriber);
  server.connect();
  server.operation.greet(true, 'c0');
  server.operation.skip(2, 3, 'c3');
  assert.deepEqual(subscriber.numbers, [3]);
});
