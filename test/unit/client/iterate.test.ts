import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iterate } from '../../../src/client/iterate.ts';
import type { Sink } from '../../../src/client/graphql-ws.ts';
import { wrapped } from './subscriber.ts';

/** An iterator, and the subscription behind it. */
function iterated() {
  let sink: Sink | undefined;
  let stops = 0;
  const results = iterate((subscriber) => {
    sink = subscriber;
    return () => stops++;
  });
  const emit = (n: number): void => sink?.next({ data: { n } });
  return { results, emit, sink: sink as unknown as Sink, stops: () => stops };
}

test('Results are iterated over in order, those that wait and those that are waited for', async () => {
  const { results, emit, sink } = iterated();
  emit(1);
  emit(2);
  assert.deepEqual(await results.next(), { done: false, value: { data: { n: 1 } } });
  assert.deepEqual(await results.next(), { done: false, value: { data: { n: 2 } } });
  const [third, fourth, last] = [results.next(), results.next(), results.next()];
  emit(3);
  emit(4);
  sink.complete();
  assert.deepEqual((await third).value, { data: { n: 3 } });
  assert.deepEqual((await fourth).value, { data: { n: 4 } });
  assert.deepEqual(await last, { done: true, value: undefined });
});

test('An error is thrown behind the results before it', async () => {
  const { results, emit, sink } = iterated();
  emit(1);
  sink.error(new Error('over'));
  assert.deepEqual((await results.next()).value, { data: { n: 1 } });
  await assert.rejects(results.next(), /over/);
  assert.equal((await results.next()).done, true);
});

test('What has ended before it was iterated over ends, also with an error that is undefined', async () => {
  const [completed, failed] = [iterated(), iterated()];
  completed.sink.complete();
  assert.equal((await completed.results.next()).done, true);
  failed.sink.error(undefined);
  await assert.rejects(failed.results.next(), (error) => error === undefined);
});

test('Leaving the loop unsubscribes', async () => {
  const { results, emit, stops } = iterated();
  emit(1);
  emit(2);
  for await (const result of results) {
    assert.deepEqual(result, { data: { n: 1 } });
    break;
  }
  assert.equal(stops(), 1);
  assert.equal((await results.next()).done, true, 'and what waited is gone');
});

test('Leaving while a result is waited for, or throwing into the iterator, ends the wait and unsubscribes', async () => {
  const { results, stops } = iterated();
  const waiting = results.next();
  assert.deepEqual(await results.return?.(), { done: true, value: undefined });
  assert.equal((await waiting).done, true);
  assert.equal(stops(), 1);
  const thrown = iterated();
  const rejected = assert.rejects(thrown.results.next(), /enough/);
  await thrown.results.throw?.(new Error('enough'));
  await rejected;
  assert.equal(thrown.stops(), 1);
});

test('iterate() of a client resumes behind what has arrived, be it iterated over or not', async () => {
  const { server, client, gaps } = wrapped();
  const results = client.iterate({});
  server.connect();
  const { operation } = server;
  operation.greet(true, 'c0');
  operation.event(1, 'c1');
  operation.event(2, 'c2');
  server.connect();
  operation.greet(true, 'c2');
  operation.event(3, 'c3');
  operation.complete();
  assert.deepEqual(operation.resumes, [null, 'c2']);
  assert.deepEqual(gaps, []);
  const numbers: unknown[] = [];
  for await (const { data } of results) numbers.push((data as { n: number }).n);
  assert.deepEqual(numbers, [1, 2, 3]);
});
