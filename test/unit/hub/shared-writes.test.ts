import assert from 'node:assert/strict';
import test from 'node:test';
import DataLoader from 'dataloader';
import { buildSchema, type GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';
import { freezeSchema } from '../../../src/graph/loader/load-graph.ts';
import { executorFor, prepared } from '../executor/small-executor.ts';
import { contextsOf, FakeSubscriber, settled, setUp } from './parts.ts';

type Args = Record<string, unknown>;
type Resolve = (source: object, args: Args, ctx: GraphContext, info: GraphQLResolveInfo) => unknown;

const SDL = `
  scalar Any
  enum Kind { A B }
  input Within { tags: [String!]! = ["x"] }
  input Where { owner: String, within: Within = {}, kind: Kind = A }
  type Query { a: Int }
  type Subscription { see(any: Any): Seen }
  type Seen { said(where: Where = {}, given: Where, any: Any): Any }
`;
const QUERY = `subscription ($given: Where, $any: Any) {
  see(any: $any) { ...F } } fragment F on Seen { said(given: $given, any: $any) }`;
/** More than it takes to compile: what follows happens in compiled code. */
const WARM_UP = 12;

interface Seller {
  readonly name: string;
  note?: string;
}

const row = (id: number) => ({
  id,
  name: 'Sel',
  tags: [{}],
  since: new Date(0),
  by: new Map([['a', {}]]),
});

const loaders = () => ({ seller: new DataLoader(async (ids: readonly number[]) => ids.map(row)) });

/** What viewers get of an event, whose only field says what `resolve` makes of all that a resolver is given. */
async function heard(resolve: Resolve, viewers: readonly string[], events = 1): Promise<unknown[][]> {
  const schema = buildSchema(SDL);
  attachResolvers(schema, {
    Subscription: { see: (event) => event },
    Seen: { said: resolve as never },
    Kind: { A: 'a', B: 'b' },
  });
  freezeSchema(schema);
  const executor = executorFor(schema, { maskErrors: false });
  const { bus, hub } = setUp({
    executor,
    contexts: contextsOf({ loaders }),
    binding: { field: 'see', key: undefined },
    hasResolvers: true,
    maxWaiting: 1_000,
  });
  const operation = prepared(executor, QUERY);
  const subscribers = viewers.map((id) => new FakeSubscriber({ id, role: id === 'ann' ? 'admin' : 'guest' }));
  for (const subscriber of subscribers)
    hub.join(operation, { given: { owner: 'given' }, any: { list: [{}] } }, subscriber);
  for (let o = 1; o <= events; o += 1) {
    bus.carry('bids', o, { n: o, listing: { tags: [{}] } });
    while (subscribers.some(({ results }) => results.length < o)) await settled();
  }
  return subscribers.map(({ results }) =>
    (results as { data?: { see: { said: unknown } }; errors?: { message: string }[] }[]).map(
      ({ data, errors }) => errors?.[0]?.message ?? data?.see.said,
    ),
  );
}

const sellerOf = (ctx: GraphContext): Promise<Seller> =>
  (ctx.loaders as { seller: DataLoader<number, Seller> }).seller.load(1);

const HINT = /\. Viewers share events, variables, .* Write to a copy: \{ \.\.\.value, more \}/;

test('a note that a resolver writes on a loaded row for an admin reaches no guest: the write throws and says why, a copy takes it', async () => {
  const [[admin], [guest]] = (await heard(
    async (_source, _args, ctx) => {
      const seller = await sellerOf(ctx);
      if (ctx.viewer['role'] === 'admin') seller.note = 'internal';
      const copy = { ...seller };
      copy.note ??= 'nothing';
      return copy.note;
    },
    ['ann', 'bob'],
  )) as [[string], [string]];
  assert.match(admin, /^Cannot add property note, object is not extensible/);
  assert.match(admin, HINT);
  assert.equal(guest, 'nothing');
});

/** Writes to what is found at a path. */
const writeAt = (root: unknown, ...path: readonly string[]): void => {
  const found = path.reduce((value, key) => (value as Record<string, unknown>)[key], root);
  Object.assign(found as object, { note: 1 });
};

const WRITES: Readonly<Record<string, (given: Parameters<Resolve>) => void>> = {
  'default value of an argument': ([, args]) => writeAt(args, 'where'),
  'default value of a field of an input object': ([, args]) => writeAt(args, 'where', 'within'),
  'list in a default value': ([, args]) => writeAt(args, 'where', 'within', 'tags'),
  'list in a variable': ([, args]) => writeAt(args, 'any', 'list'),
  'object in a variable, by `info`': ([, , , info]) => writeAt(info, 'variableValues', 'any', 'list', '0'),
  'part of the event': ([source]) => writeAt(source, 'listing'),
  'the event, by `info.rootValue`': ([, , , info]) => writeAt(info, 'rootValue'),
  '`info.operation`': ([, , , info]) => writeAt(info, 'operation', 'selectionSet'),
  '`info.fragments`': ([, , , info]) => writeAt(info, 'fragments', 'F'),
  '`info.fieldNodes`': ([, , , info]) => writeAt(info, 'fieldNodes', '0'),
  '`info.schema`': ([, , , info]) => writeAt(info, 'schema'),
  'a type of `info.schema`': ([, , , info]) => writeAt(info.schema.getTypeMap(), 'Kind'),
  '`info.parentType`': ([, , , info]) => writeAt(info, 'parentType', 'extensions'),
  '`info.returnType`': ([, , , info]) => writeAt(info, 'returnType'),
};

for (const [what, write] of Object.entries(WRITES)) {
  test(`a write throws, interpreted and compiled: ${what}`, async () => {
    const [results] = await heard((...given) => write(given), ['ann'], WARM_UP);
    for (const result of results ?? []) {
      assert.match(String(result), /^Cannot (add|assign|define|redefine)/);
      assert.match(String(result), HINT);
    }
  });
}

function attempt(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error));
  }
}

/** Writes the viewer's mark on all that can be reached. @returns the marks that were there already */
function markAll(roots: readonly unknown[], mark: string): string[] {
  const found: string[] = [];
  const seen = new Set<unknown>();
  const pending = [...roots];
  while (pending.length > 0) {
    const object = pending.pop();
    if (typeof object !== 'object' || object === null || seen.has(object)) continue;
    seen.add(object);
    for (const key of Reflect.ownKeys(object)) {
      const value: unknown = Reflect.get(object, key);
      if (key === 'mark' || (typeof value === 'string' && value.startsWith('mark of ')))
        found.push(String(value));
      pending.push(value);
    }
    if (object instanceof Map) {
      const map = object as Map<unknown, unknown>;
      pending.push(...map.values(), ...map.keys());
      attempt(() => map.set('mark', mark));
    }
    if (object instanceof Date) {
      if (object.getTime() !== 0) found.push(`date ${object.getTime()}`);
      attempt(() => object.setTime(mark.length + 1));
    }
    if (Array.isArray(object)) attempt(() => object.push(mark));
    attempt(() => Object.assign(object, { mark }));
    attempt(() => Object.defineProperty(object, 'mark', { value: mark, enumerable: true }));
    if (!Array.isArray(object)) attempt(() => Object.setPrototypeOf(object, { mark }));
  }
  return found;
}

for (const waits of [false, true]) {
  test(`resolvers that write to all they can reach leave nothing for one another, ${waits ? 'asynchronous' : 'synchronous'}`, async () => {
    const viewers = ['ann', 'bob', 'cleo'];
    const results = await heard(
      (source, args, ctx, info) => {
        const mark = `mark of ${String(ctx.viewer['id'])}`;
        const all = [source, args, info, ctx.loaders, ctx.primers, ctx.backends];
        if (!waits) return markAll(all, mark);
        return sellerOf(ctx).then((seller) => markAll([...all, seller], mark));
      },
      viewers,
      WARM_UP / 2,
    );
    for (const [index, list] of results.entries()) {
      for (const found of list as string[][]) {
        assert.ok(Array.isArray(found), JSON.stringify(found));
        const others = found.filter((mark) => mark !== `mark of ${viewers[index]}`);
        assert.deepEqual(others, []);
      }
    }
  });
}
