import assert from 'node:assert/strict';
import test from 'node:test';
import { Limiter } from '../../../src/support/limiter.ts';

const never = new AbortController().signal;

test('the limiter hands places on in the order of waiting', async () => {
  const limiter = new Limiter(1, 10);
  const order: number[] = [];
  assert.equal(limiter.enter(never), true);
  const turns = [1, 2, 3].map(async (name) => {
    assert.equal(await limiter.enter(never), true);
    order.push(name);
    limiter.release();
  });
  assert.deepEqual(order, []);
  limiter.release();
  await Promise.all(turns);
  assert.deepEqual(order, [1, 2, 3]);
  assert.equal(limiter.enter(never), true, 'the place is free again');
});

test('work past the bound of waiting is refused at once', () => {
  const limiter = new Limiter(1, 1);
  assert.equal(limiter.enter(never), true);
  assert.ok(limiter.enter(never) instanceof Promise);
  assert.equal(limiter.enter(never), false);
});

test('work that stops waiting leaves its turn to the next', async () => {
  const limiter = new Limiter(1, 1);
  const impatient = new AbortController();
  limiter.enter(never);
  const gone = limiter.enter(impatient.signal);
  impatient.abort();
  assert.equal(await gone, false);
  const next = limiter.enter(never);
  assert.ok(next instanceof Promise, 'its place in the queue is free');
  limiter.release();
  assert.equal(await next, true);
});

test('work that gives up after its turn has come changes nothing', async () => {
  const limiter = new Limiter(1, 1);
  const late = new AbortController();
  limiter.enter(never);
  const turn = limiter.enter(late.signal);
  limiter.release();
  late.abort();
  assert.equal(await turn, true);
  assert.ok(limiter.enter(never) instanceof Promise, 'the place is taken');
});
