import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema, GraphQLError, type ExecutionResult } from 'graphql';
import { BackendError } from '../../../src/backends/error.ts';
import type { ExecutorOptions } from '../../../src/executor/executor.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';
import { executorFor, prepared, RUNS } from './small-executor.ts';
import { readableLog } from '../ingest/parts.ts';

const SDL = `
  scalar Money
  enum State { OPEN CLOSED }
  interface Named { name: String }
  union Thing = Bid | Lot
  type Query { bid: Bid, bids: [Bid], named: Named, thing: Thing, strict: Bid!, count(n: Int): Int }
  type Mutation { bid: Bid }
  type Subscription { bid: Bid }
  type Bid implements Named { name: String!, bidder: String, amount: Int, price: Money, state: State }
  type Lot implements Named { name: String }
`;
const INTERNAL = { message: 'Internal server error', code: 'INTERNAL_SERVER_ERROR' };
const EVENT = { bid: { name: 'a' } };

class SubclassError extends GraphQLError {}

function setUp(resolve: (...given: never[]) => unknown, options: Partial<ExecutorOptions> = {}) {
  const schema = buildSchema(SDL);
  attachResolvers(schema, { Bid: { bidder: resolve as never } });
  const counted: [field: string, code: string, count: number][] = [];
  const { log, lines } = readableLog('info');
  const failed: ExecutorOptions['failed'] = (...one) => counted.push(one);
  const executor = executorFor(schema, { log, now: () => 0, failed, ...options });
  const run = (query: string, root: unknown = EVENT, context: unknown = {}, variables = {}) =>
    executor.execute(prepared(executor, query), root, context, variables);
  return { schema, executor, run, counted, lines };
}

const shown = ({ errors = [] }: ExecutionResult) =>
  (JSON.parse(JSON.stringify(errors)) as GraphQLError[]).map(({ message, extensions }) => ({
    message,
    code: extensions?.['code'],
  }));

const throws = (thrown: unknown) => (): never => {
  throw thrown;
};

/** An error comes in two ways. */
const waysOf = (thrown: unknown) =>
  [
    ['thrown', throws(thrown)],
    ['rejected', () => Promise.reject(thrown)],
  ] as const;

describe('an error of a resolver', () => {
  for (const [what, thrown, error] of [
    ['an Error', new TypeError("of undefined (reading 'x')"), "of undefined (reading 'x')"],
    ['undefined', undefined, 'Unexpected error value: undefined'],
    ['a text', 'text', 'Unexpected error value: "text"'],
    [
      'an Error with extensions',
      Object.assign(new Error('a'), { extensions: { code: 'MINE', sql: 'SELECT' } }),
      'a',
    ],
    ['an Error with a path of its own', Object.assign(new Error('b'), { path: ['/etc/passwd'] }), 'b'],
    ['an Error that names itself GraphQLError', Object.assign(new Error('c'), { name: 'GraphQLError' }), 'c'],
    [
      'what graphql-js has reported of another execution',
      new GraphQLError('d', { path: ['x'], originalError: new Error('d') }),
      'd',
    ],
  ] as const) {
    for (const [how, fail] of waysOf(thrown)) {
      it(`is masked, counted and logged: ${what}, ${how}`, async () => {
        const { run, counted, lines } = setUp(fail);
        const result = await run('subscription Bids { bid { bidder } }');
        assert.deepEqual(shown(result), [INTERNAL]);
        assert.doesNotMatch(JSON.stringify(result), /SELECT|passwd|MINE/);
        assert.match(JSON.stringify(result), /"data":\{"bid":\{"bidder":null\}\}/);
        // One that has a path already is passed on by graphql-js as it is: it does not tell its field.
        const field = 'path' in Object(thrown) ? 'Subscription' : 'Bid.bidder';
        assert.deepEqual(counted, [[field, 'INTERNAL_SERVER_ERROR', 1]]);
        assert.equal(lines.length, 1);
        const { msg, stack, ...line } = lines[0] ?? {};
        assert.equal(msg, 'a field could not be resolved');
        assert.deepEqual([line['error'], line['field'], line['operation']], [error, field, 'Bids']);
        assert.match(String(stack), /^\w+\n    at /);
      });
    }
  }

  it('keeps its path', async () => {
    const { run, lines } = setUp(throws(new Error('a')));
    const { errors } = await run('subscription { offer: bid { who: bidder } }');
    assert.deepEqual(errors?.[0]?.path, ['offer', 'who']);
    assert.equal(lines[0]?.['path'], 'offer.who');
  });

  for (const [what, thrown, expected] of [
    ['without a code', new GraphQLError('closed'), { message: 'closed', code: undefined }],
    [
      'of a class of its own, with a code and a cause',
      new SubclassError('closed', { originalError: new Error('db'), extensions: { code: 'CLOSED' } }),
      { message: 'closed', code: 'CLOSED' },
    ],
    [
      'of a back end',
      new BackendError('BACKEND_TIMEOUT', 'uaa'),
      { message: 'The back end uaa did not answer in time.', code: 'BACKEND_TIMEOUT' },
    ],
  ] as const) {
    it(`is for clients, and counted but not logged, if it is a GraphQLError ${what}`, async () => {
      const { run, counted, lines } = setUp(throws(thrown));
      assert.deepEqual(shown(await run('subscription { bid { bidder } }')), [expected]);
      assert.deepEqual(counted, [['Bid.bidder', expected.code ?? 'none', 1]]);
      assert.deepEqual(lines, []);
    });
  }

  for (const kind of ['query', 'mutation', 'subscription']) {
    it(`is masked and counted once in each execution of a ${kind}, interpreted and compiled`, async () => {
      let fails = true;
      const { run, executor, counted } = setUp(() => {
        if (fails) throw new Error('a');
        return 'ann';
      });
      const ask = async () => run(`${kind} { bid { bidder } }`);
      assert.deepEqual(shown(await ask()), [INTERNAL]);
      fails = false;
      for (let n = 0; n < RUNS; n += 1) assert.equal((await ask()).errors, undefined);
      assert.equal(executor.counts.compiled, kind === 'mutation' ? 0 : 1);
      fails = true;
      assert.deepEqual(shown(await ask()), [INTERNAL]);
      assert.deepEqual(counted, [
        ['Bid.bidder', INTERNAL.code, 1],
        ['Bid.bidder', INTERNAL.code, 1],
      ]);
    });
  }

  it('is not masked if clients are to read it, but has the code of a fault and nothing else', async () => {
    const thrown = Object.assign(new Error('no seller'), { extensions: { sql: 'SELECT' } });
    const { run, counted } = setUp(throws(thrown), { maskErrors: false });
    const { errors } = await run('{ bid { bidder } }');
    const extensions = { code: INTERNAL.code };
    assert.deepEqual(JSON.parse(JSON.stringify(errors)), [
      { message: 'no seller', path: ['bid', 'bidder'], extensions },
    ]);
    assert.deepEqual(counted, [['Bid.bidder', INTERNAL.code, 1]]);
  });

  it('is neither counted nor logged if no client waits for the result any more', async () => {
    const { run, counted, lines } = setUp(() => Promise.reject(new Error('all have left')));
    const context = { signal: AbortSignal.abort() };
    assert.deepEqual(shown(await run('{ bid { bidder } }', EVENT, context)), [INTERNAL]);
    assert.deepEqual([counted, lines], [[], []]);
  });

  it('names in the log what has refused a write to a frozen value', async () => {
    const { run, lines } = setUp((event: { bidder: string }) => (event.bidder = 'me'));
    await run('{ bid { bidder } }', { bid: Object.freeze({ bidder: 'ann' }) });
    assert.match(String(lines[0]?.['hint']), /Write to a copy/);
  });
});

const serialize = (value: unknown): never => {
  throw new GraphQLError(`Money cannot be ${String(value)}`);
};

describe('a value that does not fit the schema', () => {
  for (const [what, query, root, field] of [
    ['no integer', '{ bid { amount } }', { bid: { amount: 's3cret' } }, 'Bid.amount'],
    ['no money', '{ bid { price } }', { bid: { price: 's3cret' } }, 'Bid.price'],
    ['null where there must be a value', '{ bid { name } }', { bid: { name: null } }, 'Bid.name'],
    ['no list', '{ bids { name } }', { bids: { name: 's3cret' } }, 'Query.bids'],
    [
      'of no type of the union',
      '{ thing { __typename } }',
      { thing: { __typename: 's3cret' } },
      'Query.thing',
    ],
    [
      'refused by its type',
      '{ named { name } }',
      { named: { __typename: 'Lot', name: 's3cret' } },
      'Query.named',
    ],
  ] as const) {
    it(`is a fault whose message clients do not read: ${what}`, async () => {
      const { schema, run, counted, lines } = setUp(({ name }: { name: unknown }) => ({ name }));
      attachResolvers(schema, { Money: { serialize }, Lot: { __isTypeOf: (() => false) as never } });
      const result = await run(query, root);
      assert.deepEqual(shown(result), [INTERNAL]);
      assert.doesNotMatch(JSON.stringify(result.errors), /s3cret/);
      assert.deepEqual(counted, [[field, INTERNAL.code, 1]]);
      assert.equal(lines.length, 1);
    });
  }

  it('is told to the client that has sent it', async () => {
    const { run, counted, lines } = setUp(() => 'ann');
    const { errors } = await run('query ($n: Int) { count(n: $n) }', {}, {}, { n: 'many' });
    assert.match(errors?.[0]?.message ?? '', /^Variable "\$n" got invalid value "many"/);
    assert.deepEqual([counted, lines], [[], []]);
  });
});

describe('hostile errors', () => {
  const unreadable = new Error();
  Object.defineProperty(unreadable, 'message', { get: throws(unreadable) });
  const untold = { toString: throws(new Error('no text')), toJSON: throws(new Error('no JSON')) };
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const circularCause = new Error('a');
  circularCause.cause = circularCause;

  for (const [what, thrown] of [
    ['whose message throws itself', unreadable],
    ['whose stack throws', Object.defineProperty(new Error('a'), 'stack', { get: throws(unreadable) })],
    ['that have no text', untold],
    ['that are null', null],
    ['with circular extensions', new GraphQLError('a', { extensions: circular })],
    ['with circular causes', circularCause],
    [
      'whose extensions throw',
      Object.defineProperty(new GraphQLError('a'), 'extensions', { get: throws(unreadable) }),
    ],
    ['with a path that is none', new GraphQLError('a', { path: [circular as never] })],
    ['with nodes that are none', Object.assign(new Error('a'), { nodes: [null] })],
    ['with an enormous message', new Error('x'.repeat(10_000_000))],
    ['with an enormous name', Object.assign(new Error('a'), { name: 'x'.repeat(10_000_000) })],
  ] as const) {
    for (const [how, fail] of waysOf(thrown)) {
      for (const maskErrors of [true, false]) {
        it(`${what} are one error each, ${maskErrors ? '' : 'not '}masked, and one short line: ${how}`, async () => {
          const { run, counted, lines } = setUp(fail, { maskErrors });
          const result = await run('subscription { bid { bidder } }');
          const text = JSON.stringify(result);
          const codes = shown(result).map(({ code }) => code);
          assert.deepEqual([codes, counted.length, lines.length], [[INTERNAL.code], 1, 1]);
          if (maskErrors) assert.ok(text.length < 300, text.slice(0, 300));
          assert.ok(JSON.stringify(lines).length < 8_000);
        });
      }
    }
  }

  it('of 10,000 items are one line and one count, and a result of a bounded size', async () => {
    const { run, counted, lines } = setUp(throws(new Error('a')));
    const result = await run('{ bids { bidder } }', { bids: Array.from({ length: 10_000 }, () => ({})) });
    assert.deepEqual(counted, [['Bid.bidder', INTERNAL.code, 1_000]]);
    const logged = lines.map(({ errors, suppressed }) => [errors, suppressed]);
    assert.deepEqual(logged, [[1_000, 0]]);
    assert.equal(result.errors?.length, 1_001);
    assert.deepEqual(result.errors.at(-1)?.extensions, { code: 'ERRORS_LEFT_OUT' });
    assert.ok(Array.isArray(result.data?.['bids']));
    assert.equal(result.data['bids'].length, 10_000);
  });

  it('of each event are one line in ten seconds for each field, with the number left out', async () => {
    let now = 0;
    const { run, lines } = setUp(throws(new Error('a')), { now: () => now });
    for (let n = 0; n < 100; n += 1) await run('{ bid { bidder } }');
    await run('{ bid { amount } }', { bid: { amount: 'x' } });
    now = 10_000;
    await run('{ bid { bidder } }');
    const logged = lines.map(({ field, suppressed }) => `${String(field)} ${String(suppressed)}`);
    assert.deepEqual(logged, ['Bid.bidder 0', 'Bid.amount 0', 'Bid.bidder 99']);
  });
});

it('an error of what is no field, such as the context of a graph, is masked and counted for the root type', () => {
  const { executor, counted, lines } = setUp(() => 'ann');
  const operation = prepared(executor, 'subscription { bid { bidder } }');
  const result = executor.failure(operation, new Error('no tenant'));
  assert.deepEqual(shown(result), [INTERNAL]);
  assert.equal(result.data, null);
  assert.deepEqual(counted, [['Subscription', INTERNAL.code, 1]]);
  assert.equal(lines[0]?.['error'], 'no tenant');
});

it('a result that JSON can’t hold is counted for the root type', () => {
  const counted: unknown[] = [];
  const executor = executorFor(buildSchema('scalar Big type Query { big: Big }'), {
    failed: (...one) => counted.push(one),
  });
  const data = { big: 1n };
  assert.deepEqual(shown(executor.writable(prepared(executor, '{ big }'), { data })), [
    {
      message:
        'The result cannot be written as JSON: a scalar serialises to something that JSON does not have.',
      code: 'UNSERIALISABLE_RESULT',
    },
  ]);
  assert.deepEqual(counted, [['Query', 'UNSERIALISABLE_RESULT', 1]]);
  const whole = { data: { big: '1' } };
  assert.equal(executor.writable(prepared(executor, '{ big }'), whole), whole);
});
