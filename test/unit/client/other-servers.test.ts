import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begun, subscribed } from './subscriber.ts';

test('Results of a server that does not greet are left alone, with any extensions', () => {
  const { server, operation, subscriber, gaps } = subscribed();
  const results = [
    { data: { n: 1 }, extensions: { cursor: 'page-1' } },
    { data: { n: 2 }, extensions: { cursor: 'page-1', recovered: true, gap: {} } },
    { data: null, errors: [{ message: 'no' }] },
    { data: null, extensions: { gap: { topic: 'bids', at: 1 } } },
    { data: null },
  ];
  for (const result of results) operation.next(result);
  server.connect();
  for (const result of results) operation.next(result);
  assert.deepEqual(subscriber.results, [...results, ...results]);
  assert.deepEqual(operation.resumes, [null, null]);
  assert.deepEqual(gaps, []);
});

test('A reconnect to a server that does not greet is a gap, told with its first result', () => {
  const { server, operation, subscriber, gaps, reconnect } = begun();
  server.connect();
  operation.event(3);
  operation.event(4);
  assert.equal(gaps.length, 1);
  assert.deepEqual(subscriber.numbers, [1, 3, 4]);

  // What that server has delivered must not come again.
  reconnect(true, 'c9');
  assert.deepEqual(operation.resumes, [null, 'c1', null]);
  assert.equal(gaps.length, 2);
});

test('A cursor that was given to a server that does not greet is a gap', () => {
  const { operation, subscriber, gaps } = subscribed({ extensions: { resume: 'c4' } });
  operation.event(9);
  assert.equal(gaps.length, 1);
  assert.deepEqual(subscriber.numbers, [9]);
});
