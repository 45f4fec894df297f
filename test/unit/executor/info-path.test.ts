import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema, isInterfaceType, isObjectType, type GraphQLResolveInfo } from 'graphql';
import { executorFor, prepared, RUNS } from './small-executor.ts';

const EVENT = {
  id: 'e',
  title: 'Lamp',
  nested: [[{ id: 'n' }]],
  event: { id: 'i' },
  party: { kind: 'Person', id: 'p', friends: [{ kind: 'Company', id: 'c' }] },
};

test('`info.path` is the same for resolvers and `resolveType`, interpreted and compiled: keys, indexes and typenames', () => {
  const schema = buildSchema(`
    type Query { a: Int }
    type Subscription { event: Event }
    type Event { id: ID title: String nested: [[Event!]] event: Event party: Party }
    interface Party { id: ID friends: [Party!] }
    type Person implements Party { id: ID friends: [Party!] }
    type Company implements Party { id: ID friends: [Party!] }
  `);
  let seen: unknown[] = [];
  const note = (what: string, { path }: GraphQLResolveInfo): void => {
    // A copy: what an execution gets may be written to by the next one.
    seen.push([what, structuredClone(path)]);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isInterfaceType(type)) {
      type.resolveType = (party: { kind: string }, _context, info) => {
        note('resolveType', info);
        return party.kind;
      };
    }
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      field.resolve = (source: Record<string, unknown>, _args, _context, info) => {
        note('resolve', info);
        return source[field.name];
      };
    }
  }
  const executor = executorFor(schema);
  const operation = prepared(
    executor,
    `subscription { e: event { id nested { id } more: event { own: id } party { id
       ... on Person { friends { other: id ... on Company { id } } } } } }`,
  );
  const runs = Array.from({ length: RUNS }, () => {
    seen = [];
    const { errors } = executor.execute(operation, { event: EVENT }, {}, {}) as { errors?: unknown };
    assert.equal(errors, undefined);
    return seen.map((call) => JSON.stringify(call, sorted)).toSorted();
  });
  assert.deepEqual(executor.counts, { compiled: 1, refused: 0, fallback: 0 });
  assert.equal(runs[0]?.length, 13);
  for (const calls of runs.slice(1)) assert.deepEqual(calls, runs[0]);
});

/** Replaces an object by one whose keys are in order, and undefined by text that JSON keeps. */
function sorted(_key: string, value: unknown): unknown {
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted());
}
