import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resumable } from '../../../src/client/client.ts';
import { FakeClient } from './fake-client.ts';
import { subscribed, Subscriber } from './subscriber.ts';

for (const recovered of [true, false]) {
  test(`The start of a subscription is no gap, with recovered: ${recovered}`, () => {
    const { operation, subscriber, gaps } = subscribed();
    operation.greet(recovered, recovered ? 'c0' : undefined);
    operation.event(1);
    assert.deepEqual(gaps, []);
    assert.deepEqual(subscriber.numbers, [1], 'the greeting does not reach the subscriber');
  });
}

test('What could not be recovered is told, with the payload that was passed in', () => {
  const payload = { extensions: {} };
  const { server, operation, gaps } = subscribed(payload);
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  server.connect();
  operation.greet(false, 'c9');
  server.connect();
  assert.deepEqual(gaps, [{ payload, reason: 'reconnect' }]);
  assert.equal(gaps[0]?.payload, payload);
  assert.deepEqual(operation.resumes, [null, 'c1', 'c9'], 'it goes on from where it is live again');
});

test('A gap is told before the event behind it, and once', () => {
  const order: unknown[] = [];
  const server = new FakeClient();
  const client = resumable(server, { onGap: ({ reason }) => order.push(reason) });
  const subscriber = new Subscriber();
  subscriber.next = ({ data }) => void order.push((data as { n: number }).n);
  client.subscribe({}, subscriber);
  server.connect();
  server.operation.greet(true, 'c0');
  server.operation.event(1, 'c1');
  server.connect();
  server.operation.greet(false, 'c2');
  server.operation.event(3, 'c3');
  server.connect();
  server.operation.greet(true, 'c3');
  server.operation.event(4, 'c4');
  assert.deepEqual(order, [1, 'reconnect', 3, 4]);
});

test('Each reconnect of a field without history is a gap', () => {
  const { server, operation, gaps } = subscribed();
  operation.greet(false);
  operation.event(1);
  for (let socket = 2; socket <= 3; socket++) {
    server.connect();
    operation.greet(false);
  }
  assert.deepEqual(operation.resumes, [null, null, null]);
  assert.equal(gaps.length, 2);
});

test('A reconnect without a cursor is a gap, though the server calls the new start recovered', () => {
  const { server, operation, gaps } = subscribed();
  operation.greet(false);
  server.connect();
  operation.greet(true, 'c5');
  assert.equal(gaps.length, 1);
  server.connect();
  operation.greet(true, 'c5');
  assert.equal(gaps.length, 1);
  assert.deepEqual(operation.resumes, [null, null, 'c5']);
});

test('A cursor that was given, and is too old, is a gap', () => {
  const { operation, gaps } = subscribed({ extensions: { resume: 'c4' } });
  operation.greet(false, 'c9');
  assert.equal(gaps[0]?.reason, 'reconnect');
});

test('A gap that the server tells of does not reach the subscriber, and does not move the position', () => {
  const payload = {};
  const { server, operation, subscriber, gaps } = subscribed(payload);
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  operation.gap('bids', 1700);
  server.connect();
  assert.deepEqual(gaps, [{ payload, reason: 'gap', topic: 'bids', at: 1700 }]);
  assert.deepEqual(subscriber.numbers, [1]);
  assert.deepEqual(operation.resumes, [null, 'c1']);
});

test('An event that tells of a gap before it reaches the subscriber', () => {
  const { operation, subscriber, gaps } = subscribed();
  operation.greet(true, 'c0');
  operation.next({ data: { n: 1 }, extensions: { cursor: 'c1', gap: { topic: 'bids', at: 1 } } });
  assert.deepEqual(subscriber.numbers, [1]);
  assert.equal(gaps.length, 1);
});

test('A result with errors and without data is for the subscriber, and moves the position', () => {
  const { server, operation, subscriber } = subscribed();
  operation.greet(true, 'c0');
  const result = { data: null, errors: [{ message: 'no' }], extensions: { cursor: 'c1' } };
  operation.next(result);
  server.connect();
  assert.deepEqual(subscriber.results, [result]);
  assert.deepEqual(operation.resumes, [null, 'c1']);
});

test('onGap must be a function', () => {
  assert.throws(() => resumable(new FakeClient(), { onGap: 'refetch' as never }), {
    name: 'TypeError',
    message: 'Expected a function as onGap, got string',
  });
});

test('Events that the server has skipped are a gap, though the result that tells of them reaches the page', () => {
  const payload = {};
  const { operation, subscriber, gaps } = subscribed(payload);
  const errors = [
    { message: '2 events were skipped here', extensions: { code: 'EVENTS_SKIPPED', skipped: 2 } },
  ];
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  operation.next({ errors });
  operation.next({ data: null, errors: [{ message: 'a resolver failed' }] });
  operation.event(4, 'c4');
  assert.deepEqual(gaps, [{ payload, reason: 'gap' }]);
  assert.deepEqual(subscriber.results.length, 4);
});
