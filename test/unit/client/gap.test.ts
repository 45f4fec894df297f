import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resumable } from '../../../src/client/client.ts';
import { FakeClient } from './fake-client.ts';
import { begun, subscribed, Subscriber } from './subscriber.ts';

test('The start of a subscription is no gap, recovered or not', () => {
  for (const cursor of ['c0', undefined]) {
    const { operation, subscriber, gaps } = subscribed();
    operation.greet(cursor !== undefined, cursor);
    operation.event(1);
    assert.deepEqual(gaps, []);
    assert.deepEqual(subscriber.numbers, [1], 'the greeting does not reach the subscriber');
  }
});

test('What could not be recovered is told, with the payload that was passed in', () => {
  const { payload, server, operation, gaps, reconnect } = begun();
  reconnect(false, 'c9');
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
  for (const [recovered, n] of [
    [true, 1],
    [false, 3],
    [true, 4],
  ] as const) {
    server.connect();
    server.operation.greet(recovered, `c${n - 1}`);
    server.operation.event(n, `c${n}`);
  }
  assert.deepEqual(order, [1, 'reconnect', 3, 4]);
});

test('Each reconnect of a field without history is a gap', () => {
  const { operation, gaps, reconnect } = subscribed();
  operation.greet(false);
  operation.event(1);
  for (let socket = 2; socket <= 3; socket++) reconnect(false);
  assert.deepEqual(operation.resumes, [null, null, null]);
  assert.equal(gaps.length, 2);
});

test('A reconnect without a cursor is a gap, though the server calls the new start recovered', () => {
  const { operation, gaps, reconnect } = subscribed();
  operation.greet(false);
  for (let socket = 2; socket <= 3; socket++) {
    reconnect(true, 'c5');
    assert.equal(gaps.length, 1);
  }
  assert.deepEqual(operation.resumes, [null, null, 'c5']);
});

test('A cursor that was given, and is too old, is a gap', () => {
  const { operation, gaps } = subscribed({ extensions: { resume: 'c4' } });
  operation.greet(false, 'c9');
  assert.equal(gaps[0]?.reason, 'reconnect');
});

test('A gap that the server tells of does not reach the subscriber, and does not move the position', () => {
  const { payload, server, operation, subscriber, gaps } = begun();
  operation.gap('bids', 1700);
  server.connect();
  assert.deepEqual(gaps, [{ payload, reason: 'gap', topic: 'bids', at: 1700 }]);
  assert.deepEqual(subscriber.numbers, [1]);
  assert.deepEqual(operation.resumes, [null, 'c1']);
});

test('An event that tells of a gap before it reaches the subscriber', () => {
  const { operation, subscriber, gaps } = begun();
  operation.next({ data: { n: 2 }, extensions: { cursor: 'c2', gap: { topic: 'bids', at: 1 } } });
  assert.deepEqual(subscriber.numbers, [1, 2]);
  assert.equal(gaps.length, 1);
});

test('A result with errors and without data is for the subscriber, and moves the position', () => {
  const { server, operation, subscriber } = begun();
  const result = { data: null, errors: [{ message: 'no' }], extensions: { cursor: 'c2' } };
  operation.next(result);
  server.connect();
  assert.deepEqual(subscriber.results[1], result);
  assert.deepEqual(operation.resumes, [null, 'c2']);
});

test('onGap must be a function', () => {
  assert.throws(() => resumable(new FakeClient(), { onGap: 'refetch' as never }), {
    name: 'TypeError',
    message: 'Expected a function as onGap, got string',
  });
});

test('Events that the server has skipped are a gap, though the result that tells of them reaches the page', () => {
  const { payload, operation, subscriber, gaps } = begun();
  const extensions = { code: 'EVENTS_SKIPPED', skipped: 2 };
  operation.next({ errors: [{ message: '2 events were skipped here', extensions }] });
  operation.next({ data: null, errors: [{ message: 'a resolver failed' }] });
  operation.event(4, 'c4');
  assert.deepEqual(gaps, [{ payload, reason: 'gap' }]);
  assert.deepEqual(subscriber.results.length, 4);
});
