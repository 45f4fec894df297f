import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { PendingQuery } from '../../../src/context/pending-query.ts';
import { Queries, type Query } from '../../../src/context/queries.ts';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import { Metrics } from '../../../src/metrics.ts';
import { FairLimiter } from '../../../src/support/fair-limiter.ts';
import { contextsOf, operation, settled } from '../hub/parts.ts';

type Execute = (context: GraphContext, name: string) => ExecutionResult | Promise<ExecutionResult>;

const asked = operation([]);

function setUp(execute: Execute, { places = 2, timeoutMs = 60_000 } = {}) {
  // A busy machine would divide what may begin among several turns.
  const limiter = new FairLimiter(places, () => 0);
  const metrics = new Metrics();
  const queries = new Queries({
    executor: {
      execute: (_operation, _root, context, { name }) => execute(context as GraphContext, String(name)),
      failure: (_operation, thrown) => ({ errors: [thrown as GraphQLError], data: null }),
      writable: (_operation, result) => result,
    },
    contexts: contextsOf(),
    limiter,
    metrics,
    timeoutMs,
  });
  const ask = (owner: object, name = '', more: Partial<Query> = {}): ExecutionResult | PendingQuery =>
    queries.execute({ operation: asked, variables: { name }, viewer: {}, owner, ...more });
  const pending = (owner: object, name = '', more: Partial<Query> = {}): PendingQuery => {
    const outcome = ask(owner, name, more);
    assert.ok(outcome instanceof PendingQuery);
    return outcome;
  };
  return { limiter, metrics, ask, pending };
}

/** Settled by the test; counts in `begun`. */
function held() {
  const begun: { name: string; signal: AbortSignal; finish: (result: ExecutionResult) => void }[] = [];
  const execute: Execute = ({ signal }, name) =>
    new Promise((resolve) => begun.push({ name, signal, finish: resolve }));
  return { begun, execute };
}

test('a synchronous query has its result at once, and takes no place', () => {
  const { ask, limiter } = setUp(() => ({ data: { a: 1 } }));
  assert.deepEqual(ask({}), { data: { a: 1 } });
  assert.deepEqual([limiter.running, limiter.waiting], [0, 0]);
});

test('what a query takes when it begins is told if it had to wait for its place: the call that it came with has returned by then', async () => {
  const { begun, execute } = held();
  const { ask } = setUp((context, name) => (name === 'now' ? { data: { a: 2 } } : execute(context, name)));
  const taken: string[] = [];
  const owner = {};
  const tell = (name: string) => ({
    turns: { run: (job: () => void) => job(), charge: () => void taken.push(name), countUnmeasured() {} },
  });
  ask(owner, 'holds the place', tell('first'));
  const waiting = ask(owner, 'now', tell('second'));
  assert.ok(waiting instanceof PendingQuery);
  begun[0]?.finish({ data: { a: 1 } });
  assert.deepEqual(await waiting.result(), { data: { a: 2 } });
  assert.deepEqual(taken, ['second']);
});

test('a query that takes too long gets an error, its signal is aborted, and what comes later is dropped', async () => {
  const { begun, execute } = held();
  const { pending, metrics, limiter } = setUp(execute, { timeoutMs: 5 });
  const result = await pending({}).result();
  assert.equal(result?.data, null);
  assert.equal(result?.errors?.[0]?.message, 'The operation took longer than 5 ms to resolve.');
  assert.deepEqual(result?.errors?.[0]?.extensions, { code: 'EXECUTE_TIMEOUT' });
  assert.equal(begun[0]?.signal.aborted, true);
  begun[0]?.finish({ data: { a: 'late' } });
  await settled();
  assert.equal(limiter.running, 0);
  assert.equal((await metrics.executionTimeouts.get()).values[0]?.value, 1);
});

test('a client that leaves has its running query aborted, and the place kept until resolvers have ended', async () => {
  const { begun, execute } = held();
  const { pending, limiter } = setUp(execute);
  const query = pending({});
  const result = query.result();
  query.cancel();
  assert.equal(await result, undefined);
  assert.equal(begun[0]?.signal.aborted, true);
  assert.equal(limiter.running, 1);
  begun[0]?.finish({ data: {} });
  await settled();
  assert.equal(limiter.running, 0);
});

test('a query whose client leaves before its turn never begins, and the next one has the turn', async () => {
  const { begun, execute } = held();
  const { pending, limiter } = setUp(execute);
  const [ann, bob] = [{}, {}];
  const names = (): string[] => begun.map(({ name }) => name);
  pending(ann, 'ann 1');
  pending(bob, 'bob 1');
  const leaving = pending(ann, 'ann 2');
  pending(ann, 'ann 3');
  assert.deepEqual([names(), limiter.waiting], [['ann 1', 'bob 1'], 2]);
  leaving.cancel();
  assert.equal(await leaving.result(), undefined);
  begun[0]?.finish({ data: {} });
  await settled();
  assert.deepEqual([names(), limiter.waiting], [['ann 1', 'bob 1', 'ann 3'], 0]);
  for (const { finish } of begun) finish({ data: {} });
});

test('a query that waited, and may not begin when its turn has come, has no result, and the next one has the turn', async () => {
  const { begun, execute } = held();
  const { pending, limiter } = setUp(execute);
  const owner = {};
  let isRevoked = false;
  const mayBegin = (): boolean => !isRevoked;
  pending(owner, 'first', { mayBegin });
  const waiting = pending(owner, 'second', { mayBegin });
  pending(owner, 'third');
  isRevoked = true;
  begun[0]?.finish({ data: {} });
  await settled();
  const names = begun.map(({ name }) => name);
  assert.deepEqual(names, ['first', 'third']);
  assert.equal(await waiting.result(), undefined);
  begun[1]?.finish({ data: {} });
  await settled();
  assert.deepEqual([limiter.running, limiter.waiting], [0, 0]);
});

test('queries of one connection, however many, leave places for those of another', () => {
  const { begun, execute } = held();
  const { pending } = setUp(execute, { places: 10 });
  const attacker = {};
  const attack = Array.from({ length: 100 }, () => pending(attacker, 'attacker'));
  assert.equal(begun.length, 5);
  pending({}, 'other');
  assert.equal(begun.at(-1)?.name, 'other');
  for (const query of attack) query.cancel();
  for (const { finish } of begun) finish({ data: {} });
});

test('an execution that rejects is an error, and gives its place back', async () => {
  const { pending, limiter } = setUp(() => Promise.reject(new Error('on purpose')));
  const result = await pending({}).result();
  assert.equal(result?.errors?.[0]?.message, 'on purpose');
  assert.equal(limiter.running, 0);
});
