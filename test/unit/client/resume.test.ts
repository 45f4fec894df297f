import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begun, subscribed, Subscriber, wrapped } from './subscriber.ts';

test('A subscription begins with null, and goes on behind its last event', () => {
  const { server, operation, subscriber, reconnect } = begun();
  operation.event(2, 'c2');
  reconnect(true, 'c2');
  operation.event(3, 'c3');
  server.connect();
  assert.deepEqual(operation.resumes, [null, 'c2', 'c3']);
  assert.deepEqual(subscriber.numbers, [1, 2, 3]);
  assert.deepEqual(subscriber.results[0]?.extensions, { cursor: 'c1' }, 'the subscriber sees the cursor');
});

test('A connection that is lost before the first event goes on behind the greeting, if that has come', () => {
  const { operation, gaps, reconnect } = subscribed();
  reconnect(true, 'c0');
  reconnect(true, 'c0');
  assert.deepEqual(operation.resumes, [null, null, 'c0']);
  assert.deepEqual(gaps, []);
});

test('A connection that is lost amid a replay goes on at the last event, not at the greeting’s cursor', () => {
  const { server, operation, subscriber, gaps, reconnect } = begun();
  reconnect(true, 'c9');
  reconnect(true, 'c9');
  operation.event(2, 'c2');
  server.connect();
  assert.deepEqual(operation.resumes, [null, 'c1', 'c1', 'c2']);
  assert.deepEqual(subscriber.numbers, [1, 2]);
  assert.deepEqual(gaps, []);
});

test('An event that comes again is dropped, on the same socket and on the next', () => {
  const { operation, subscriber, reconnect } = begun();
  operation.event(1, 'c1');
  reconnect(true, 'c1');
  operation.event(1, 'c1');
  operation.event(2, 'c2');
  assert.deepEqual(subscriber.numbers, [1, 2]);
});

test('An event behind a loss is no double, though it has the cursor of the last one before', () => {
  const { operation, subscriber, gaps, reconnect } = begun();
  operation.event(2, 'c2');
  reconnect(false, 'c1');
  operation.event(3, 'c2');
  assert.deepEqual(subscriber.numbers, [1, 2, 3]);
  assert.equal(gaps.length, 1);
});

test('An event of before the start is no double, though the greeting has its cursor', () => {
  const { operation, subscriber } = subscribed();
  operation.greet(true, 'c1');
  operation.event(0, 'c0');
  operation.event(1, 'c1');
  assert.deepEqual(subscriber.numbers, [0, 1]);
});

test('Each subscription has a cursor of its own', () => {
  const { server, client, gaps } = wrapped();
  const payload = { extensions: {} };
  const [first, second] = [new Subscriber(), new Subscriber()];
  for (const subscriber of [first, second]) client.subscribe(payload, subscriber);
  server.connect();
  const [one, two] = server.operations;
  one?.greet(true, 'a0');
  two?.greet(true, 'b0');
  one?.event(1, 'same');
  two?.event(2, 'same');
  one?.event(3, 'a3');
  server.connect();
  one?.greet(true, 'a3');
  two?.greet(false, 'b9');
  assert.deepEqual(
    [one?.resumes, two?.resumes],
    [
      [null, 'a3'],
      [null, 'same'],
    ],
  );
  assert.deepEqual([first.numbers, second.numbers], [[1, 3], [2]]);
  assert.equal(gaps.length, 1);
});

test('A subscription that is made again, with the same payload, begins anew', () => {
  const payload = Object.freeze({ extensions: Object.freeze({ tenant: 7 }) });
  const { server, client, gaps, stop } = begun(payload);
  stop();
  client.subscribe(payload, new Subscriber());
  server.connect();
  server.operation.greet(false);
  assert.deepEqual(server.operation.sent, [{ extensions: { tenant: 7, resume: null } }]);
  assert.deepEqual(payload, { extensions: { tenant: 7 } });
  assert.deepEqual(gaps, []);
});

test('A subscription that is given a cursor goes on behind that one', () => {
  const { server, operation, subscriber, gaps } = subscribed({ extensions: { resume: 'c4' } });
  operation.greet(true, 'c9');
  operation.event(4, 'c4');
  operation.event(5, 'c5');
  server.connect();
  assert.deepEqual(operation.resumes, ['c4', 'c5']);
  assert.deepEqual(subscriber.numbers, [5]);
  assert.deepEqual(gaps, []);
});

test('A payload without extensions opts in likewise', () => {
  for (const extensions of [undefined, null]) {
    assert.deepEqual(subscribed({ extensions }).operation.sent, [{ extensions: { resume: null } }]);
  }
});

test('An event without a cursor reaches the subscriber, and does not move the position', () => {
  const { server, operation, subscriber } = begun();
  operation.event(2);
  operation.event(2);
  server.connect();
  assert.deepEqual(subscriber.numbers, [1, 2, 2]);
  assert.deepEqual(operation.resumes, [null, 'c1']);
});
