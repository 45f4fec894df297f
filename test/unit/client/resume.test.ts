import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subscribed, Subscriber, wrapped } from './subscriber.ts';

test('A subscription begins with null, and goes on behind its last event', () => {
  const { server, operation, subscriber } = subscribed();
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  operation.event(2, 'c2');
  server.connect();
  operation.greet(true, 'c2');
  operation.event(3, 'c3');
  server.connect();
  assert.deepEqual(operation.resumes, [null, 'c2', 'c3']);
  assert.deepEqual(subscriber.numbers, [1, 2, 3]);
  assert.deepEqual(subscriber.results[0]?.extensions, { cursor: 'c1' }, 'the subscriber sees the cursor');
});

test('A connection that is lost before the first event goes on behind the greeting', () => {
  const { server, operation } = subscribed();
  operation.greet(true, 'c0');
  server.connect();
  assert.deepEqual(operation.resumes, [null, 'c0']);
});

test('A connection that is lost before the greeting is the start of a subscription still', () => {
  const { server, operation, gaps } = subscribed();
  server.connect();
  operation.greet(true, 'c0');
  assert.deepEqual(operation.resumes, [null, null]);
  assert.deepEqual(gaps, []);
});

test('A connection that is lost amid a replay goes on at the last event, not at the greeting’s cursor', () => {
  const { server, operation, subscriber, gaps } = subscribed();
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  server.connect();
  operation.greet(true, 'c9');
  server.connect();
  operation.greet(true, 'c9');
  operation.event(2, 'c2');
  server.connect();
  assert.deepEqual(operation.resumes, [null, 'c1', 'c1', 'c2']);
  assert.deepEqual(subscriber.numbers, [1, 2]);
  assert.deepEqual(gaps, []);
});

test('An event that comes again is dropped, on the same socket and on the next', () => {
  const { server, operation, subscriber } = subscribed();
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  operation.event(1, 'c1');
  server.connect();
  operation.greet(true, 'c1');
  operation.event(1, 'c1');
  operation.event(2, 'c2');
  assert.deepEqual(subscriber.numbers, [1, 2]);
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
  const subscribers = [new Subscriber(), new Subscriber()];
  for (const subscriber of subscribers) client.subscribe(payload, subscriber);
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
  assert.deepEqual(one?.resumes, [null, 'a3']);
  assert.deepEqual(two?.resumes, [null, 'same']);
  assert.deepEqual(
    subscribers.map(({ numbers }) => numbers),
    [[1, 3], [2]],
  );
  assert.equal(gaps.length, 1);
});

test('A subscription that is made again, with the same payload, begins anew', () => {
  const { server, client, gaps } = wrapped();
  const payload = Object.freeze({ extensions: Object.freeze({ tenant: 7 }) });
  client.subscribe(payload, new Subscriber())();
  server.connect();
  server.operation.greet(true, 'c0');
  server.operation.event(1, 'c1');
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

for (const extensions of [undefined, null]) {
  test(`A payload whose extensions are ${extensions} opts in likewise`, () => {
    const { operation } = subscribed({ extensions });
    assert.deepEqual(operation.sent, [{ extensions: { resume: null } }]);
  });
}

test('An event without a cursor reaches the subscriber, and does not move the position', () => {
  const { server, operation, subscriber } = subscribed();
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  operation.event(2);
  operation.event(2);
  server.connect();
  assert.deepEqual(subscriber.numbers, [1, 2, 2]);
  assert.deepEqual(operation.resumes, [null, 'c1']);
});
