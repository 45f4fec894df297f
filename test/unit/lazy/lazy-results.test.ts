import { buildSchema, execute, parse, type ExecutionResult } from 'graphql';
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Resolvers } from '../../../src/graph/api/resolvers.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';
import { executorFor, prepared, RUNS, unmasked } from '../executor/small-executor.ts';

/** Lazy objects as results of resolvers, over graphql-jit: what can't be built is a field error, as over graphql-js. */

const SDL = `
  type Query { house: House, houses: [House], lots: [[House]], thing: Thing }
  interface Thing { name: String }
  type House implements Thing {
    name: String
    price: Int!
    owner: Owner
    near: [House]
    tags: [String]
  }
  type Owner { name: String, house: House }
`;

/** Runs a query with these resolvers until it is compiled, and then as often as the test wants. */
async function compiled(query: string, resolvers: Resolvers[string], context = (): object => ({})) {
  const schema = buildSchema(SDL);
  attachResolvers(schema, { Query: resolvers });
  const executor = executorFor(schema, { maskErrors: false });
  const operation = prepared(executor, query);
  const run = async (): Promise<ExecutionResult> => executor.execute(operation, {}, context(), {});
  for (let i = 0; i < RUNS; i += 1) assert.equal((await run()).errors, undefined);
  assert.equal(executor.counts.compiled, 1);
  return { schema, executor, operation, run };
}

/** Whether values fail to be built, and how many were. */
class Builds {
  fail = false;
  count = 0;

  of<T>(value: T, message = 'not built'): T {
    this.count += 1;
    if (this.fail) throw new Error(message);
    return value;
  }
}

function house(builds: Builds): object {
  return Proxy.lazy({
    __typename: 'House',
    name: builds.of('Villa', 'no name'),
    price: builds.of(100, 'no price'),
    owner: Proxy.lazy({ name: builds.of('Ann', 'no owner name') }),
    near: builds.of([Proxy.lazy({ name: builds.of('Hut', 'no hut') })], 'no neighbours'),
    tags: builds.of(['old'], 'no tags'),
  });
}

const PARENTS: Record<string, (value: object) => unknown> = {
  'a synchronous parent': (value) => value,
  'an asynchronous parent': async (value) => value,
  'an asynchronous parent that takes its time': (value) =>
    new Promise((resolve) => setImmediate(resolve, value)),
};

const QUERIES = [
  '{ house { name } }',
  '{ house { name owner { name } } }',
  '{ house { price } other: houses { name } }',
  '{ house { name tags near { name } } }',
  '{ house { a: owner { name } b: owner { n: name } } }',
  '{ houses { name price } }',
  '{ lots { name owner { name } } }',
  '{ thing { __typename name ... on House { owner { name } } } }',
];

const plain = (result: ExecutionResult): unknown => JSON.parse(JSON.stringify(result));

/** Errors in any order: fields beside each other may fail in a different one. */
function comparable(result: ExecutionResult): unknown {
  const errors = result.errors?.map(({ message, path }) => JSON.stringify({ message, path })).toSorted();
  return { data: plain({ data: result.data ?? null }), errors };
}

for (const [name, parent] of Object.entries(PARENTS)) {
  for (const query of QUERIES) {
    test(`${query} under ${name}: a value that fails is a field error, and the result is settled`, async () => {
      const builds = new Builds();
      const { schema, executor, operation, run } = await compiled(query, {
        house: () => parent(house(builds)),
        houses: () => parent([house(builds), parent(house(builds))]),
        lots: () => [parent([parent(house(builds))])],
        thing: () => parent(house(builds)),
      });

      builds.fail = true;
      const failed = await run();
      assert.equal(executor.counts.fallback, 1, 'compiled code met the error');
      const original = await execute({ schema, document: parse(query), rootValue: {} });
      const expected = unmasked(schema, operation, original);
      assert.ok((expected.errors?.length ?? 0) > 0);
      assert.deepEqual(comparable(failed), comparable(expected));

      builds.fail = false;
      assert.equal((await run()).errors, undefined);
    });
  }
}

test('compiled code builds a value once, however often it reads it', async () => {
  const builds = new Builds();
  const query = '{ house { name n: name ...H } } fragment H on House { name price }';
  const { run } = await compiled(query, { house: () => house(builds) });
  builds.count = 0;
  await run();
  assert.equal(builds.count, 2);
});

const loader = (_source: unknown, _args: unknown, context: object) => Reflect.get(context, 'loader');

test('a lazy context that fails is an error of the field whose resolver read it', async () => {
  const builds = new Builds();
  const { run } = await compiled(
    '{ house { name } thing { name } }',
    { house: loader, thing: async (...given: Parameters<typeof loader>) => loader(...given) },
    () => Proxy.lazy({ loader: builds.of({ __typename: 'House', name: 'Villa' }, 'no loader') }),
  );
  builds.fail = true;
  const { data, errors } = await run();
  assert.deepEqual(plain({ data: data ?? null }), { data: { house: null, thing: null } });
  assert.deepEqual(errors?.map(({ message, path }) => [message, path]).toSorted(), [
    ['no loader', ['house']],
    ['no loader', ['thing']],
  ]);
});
