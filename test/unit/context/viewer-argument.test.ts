import assert from 'node:assert/strict';
import test from 'node:test';
import DataLoader from 'dataloader';
import { Contexts } from '../../../src/context/event-scope.ts';
import { primeWith } from '../../../src/context/primers.ts';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import type { GraphDefinition } from '../../../src/graph/api/define-graph.ts';
import { ReadSet, type Json } from '../../../src/lazy/reads.ts';

interface Viewer {
  readonly id: string;
  readonly team: string;
  readonly teams: readonly string[];
  readonly org: { readonly id: number };
}

const ANN = { id: 'ann', team: 'red', teams: ['red', 'tea'], org: { id: 7 } };
const BOB = { ...ANN, id: 'bob' };

const REFUSED = {
  name: 'TypeError',
  message:
    /^expected arguments that are the same for all viewers who share a loader, got (the viewer, or a part of it|a context, which has the viewer): pass the values that it needs instead, such as viewer\.id or \[\.\.\.viewer\.teams\], or use viewerLoaders$/,
};

type Load = (key: unknown) => Promise<unknown>;

interface Loaders {
  readonly profile: { load: Load; loadMany: (keys: readonly unknown[]) => Promise<unknown[]> };
  readonly ask: Load;
  /** A class, which is called and constructed. */
  readonly made: () => new (key: unknown) => object;
}

/** Returns, for each viewer, the context of its execution of one event, and what that has read. */
function executions(
  code: Pick<GraphDefinition, 'loaders' | 'viewerLoaders' | 'primers'>,
  event: unknown = {},
) {
  const scope = new Contexts(code, { bind: () => ({}) }, Date.now).scopeOf(event);
  const executionFor = (viewer: Json) => {
    const reads = new ReadSet();
    const { context } = scope.execution(viewer, reads);
    return { context, reads, viewer: context.viewer as unknown as Viewer, loaders: loadersOf(context) };
  };
  return [executionFor(ANN), executionFor(BOB)] as const;
}

const loadersOf = ({ loaders }: Pick<GraphContext, 'loaders'>): Loaders => loaders as never;

/** A batch function that reads more of a key than what makes keys equal. */
const careless = {
  loaders: () => {
    const profile = new DataLoader(async (keys: readonly Viewer[]) => keys.map(({ id }) => `for ${id}`), {
      cacheKeyFn: ({ team }) => team,
    });
    class Asking {
      readonly answer: Promise<string>;
      constructor(key: Viewer) {
        this.answer = profile.load(key);
      }
    }
    const ask = (key: Viewer): Promise<string> => profile.load(key);
    return { profile, ask, made: () => Asking };
  },
};

test('a viewer as the key of a loader that viewers share is refused: what was read of the first would go to all of its team', async () => {
  const told = await Promise.all(
    executions(careless).map(async ({ loaders, viewer }) => {
      try {
        return await loaders.profile.load(viewer);
      } catch (error) {
        return error;
      }
    }),
  );
  for (const error of told) {
    assert.ok(error instanceof TypeError, `expected a TypeError for each, got ${told.join(', ')}`);
    assert.match(error.message, REFUSED.message);
  }
});

const KEYS: Readonly<Record<string, (viewer: Viewer, ctx: GraphContext) => unknown>> = {
  'a part of the viewer': ({ org }) => org,
  'a list of the viewer': ({ teams }) => teams,
  'a key with the viewer': (viewer) => ({ team: viewer.team, viewer }),
  'a key with a part, deep': ({ org }) => ({ a: [{ org }] }),
  'a list with a part': ({ org }) => [1, org],
  'a frozen key with the viewer': (viewer) => Object.freeze({ viewer }),
  'a Map with the viewer': (viewer) => new Map([['viewer', viewer]]),
  'a Set with the viewer': (viewer) => new Set([viewer]),
  'an instance with the viewer': (viewer) =>
    new (class Key {
      viewer = viewer;
    })(),
  'a context': (_viewer, ctx) => ctx,
  'a key with a context': (_viewer, ctx) => ({ ctx }),
};

for (const [what, keyOf] of Object.entries(KEYS)) {
  test(`${what} is refused as an argument of a shared loader, of its function and of its class`, () => {
    const [{ loaders, viewer, context }] = executions(careless);
    const key = keyOf(viewer, context);
    const made = loaders.made();
    assert.throws(() => loaders.profile.load(key), REFUSED);
    assert.throws(() => loaders.profile.loadMany([key]), REFUSED);
    assert.throws(() => loaders.ask(key), REFUSED);
    assert.throws(() => Reflect.construct(made, [key]), REFUSED);
    assert.throws(() => Reflect.apply(made, key, []), REFUSED);
    const { load, loadMany } = loaders.profile;
    assert.throws(() => load(key), REFUSED);
    assert.throws(() => loadMany([1, key]), REFUSED);
  });
}

test('looking for a viewer in an argument records no read of it, and builds nothing that is lazy', () => {
  let built = 0;
  const [{ loaders, viewer, reads }] = executions(careless);
  const lazy = Proxy.lazy({ costly: (built += 1) });
  assert.throws(() => loaders.ask({ lazy, viewer }), REFUSED);
  assert.equal(reads.size, 0);
  assert.equal(built, 0);
});

test('values of a viewer are taken, and join what the execution has read; so are events, however often, and circles', async () => {
  const event = Object.freeze({ row: Object.freeze({ id: 1 }) });
  const [{ loaders, viewer, reads }] = executions(
    { loaders: () => ({ ask: async (key: unknown) => key }) },
    event,
  );
  assert.equal(await loaders.ask(viewer.id), 'ann');
  assert.deepEqual(await loaders.ask([...viewer.teams]), ['red', 'tea']);
  assert.deepEqual(await loaders.ask({ ...viewer.org }), { id: 7 });
  assert.deepEqual(reads.paths, ['id', 'org', 'org.id', 'teams', 'teams.0', 'teams.1', 'teams.length']);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const key of [event, event, circle, Buffer.alloc(3), null, undefined]) await loaders.ask(key);
});

test('loaders of one execution take its viewer, and primers prime from the event as before', async () => {
  const batches: unknown[] = [];
  const seller = () =>
    new DataLoader(async (ids: readonly number[]) => {
      batches.push(ids);
      return ids.map((id) => ({ id }));
    });
  const [ann, bob] = executions(
    {
      loaders: () => Proxy.lazy({ profile: seller() }),
      primers: (ctx) => Proxy.lazy({ profile: primeWith(loadersOf(ctx as never).profile, 'seller', 'id') }),
      viewerLoaders: (ctx) => ({
        own: new DataLoader(async (keys: readonly Viewer[]) =>
          keys.map(({ id }) => `${id} by ${(ctx.viewer as unknown as Viewer).id}`),
        ),
      }),
    },
    { seller: { id: 3, name: 'Sam' } },
  );
  for (const { context, viewer, loaders } of [ann, bob]) {
    const { own } = context.viewerLoaders as { own: { load: Load } };
    assert.equal(await own.load(viewer), `${viewer.id} by ${viewer.id}`);
    assert.deepEqual(await loaders.profile.load(3), { id: 3, name: 'Sam' });
  }
  assert.deepEqual(batches, []);
});
