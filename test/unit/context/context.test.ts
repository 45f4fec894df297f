import assert from 'node:assert/strict';
import test from 'node:test';
import DataLoader from 'dataloader';
import { Contexts } from '../../../src/context/event-scope.ts';
import { primeWith } from '../../../src/context/primers.ts';
import type { GraphContext, SharedContext } from '../../../src/graph/api/context.ts';
import type { GraphDefinition } from '../../../src/graph/api/define-graph.ts';
import { ReadSet, type Json } from '../../../src/lazy/reads.ts';

interface Seller {
  readonly id: number;
  readonly name: string;
}

type Code = Pick<GraphDefinition, 'loaders' | 'viewerLoaders' | 'primers' | 'context'>;

interface SellerLoaders {
  readonly seller: DataLoader<number, Seller>;
}

function setUp(code: Code = {}) {
  let bound = 0;
  const backends = {
    bind: (call: { viewer: () => unknown }) => {
      bound += 1;
      return { probe: { readViewer: () => call.viewer() } } as never;
    },
  };
  const contexts = new Contexts(code, backends, () => 1_234);
  const run = (event: unknown = {}, viewer: Json = {}) => {
    const reads = new ReadSet();
    const execution = contexts.scopeOf(event).execution(viewer, reads);
    return { execution, context: execution.context, reads };
  };
  return { contexts, run, bound: () => bound };
}

const loadersOf = (ctx: { loaders: unknown }): SellerLoaders => ctx.loaders as SellerLoaders;

/** A graph whose loader notes each batch that it is asked for. */
function withSellers(primers?: (ctx: SharedContext) => Record<string, (event: unknown) => void>) {
  const batches: (readonly number[])[] = [];
  const code: Code = {
    loaders: () =>
      Proxy.lazy({
        seller: new DataLoader<number, Seller>(async (ids) => {
          batches.push(ids);
          return ids.map((id) => ({ id, name: `seller ${id}` }));
        }),
      }),
    ...(primers && { primers }),
  };
  return { ...setUp(code), batches };
}

test('a context has all its parts, and makes none before it is read', () => {
  let made = 0;
  const make = () => ({ made: (made += 1) });
  const { run, bound } = setUp({ loaders: make, viewerLoaders: make });
  const { context } = run();
  const parts = 'viewer backends loaders viewerLoaders primers now signal';
  assert.equal(Object.keys(context).join(' '), parts);
  assert.equal(made + bound(), 0);
  assert.equal(context.loaders, context.loaders);
  assert.equal(context.viewerLoaders, context.viewerLoaders);
  assert.equal(context.backends, context.backends);
  assert.equal(made + bound(), 3);
  assert.equal(context.now, 1_234);
});

test('the context records what an execution reads of the viewer', () => {
  const { run } = setUp();
  const { context, reads } = run({}, { id: 1, role: 'a' });
  assert.equal(reads.size, 0);
  assert.equal(context.viewer['role'], 'a');
  assert.ok(reads.valuesIn({ role: 'a', id: 2 }) === reads.valuesIn({ role: 'a', id: 1 }));
  assert.ok(reads.valuesIn({ role: 'b' }) !== reads.valuesIn({ role: 'a' }));
});

test('loaders are shared by all executions of an event, and fresh for the next one', async () => {
  const { contexts, batches } = withSellers();
  const scope = contexts.scopeOf({});
  const contextOf = (id: number) => scope.execution({ id }, new ReadSet()).context;
  const sellers = await Promise.all([1, 2, 3].map((id) => loadersOf(contextOf(id)).seller.load(7)));
  for (const seller of sellers) assert.deepEqual(seller, { id: 7, name: 'seller 7' });
  assert.deepEqual(batches, [[7]]);
  await loadersOf(contexts.scopeOf({}).execution({}, new ReadSet()).context).seller.load(7);
  assert.deepEqual(batches, [[7], [7]]);
});

test('shared loaders have no viewer: the error of reading it names viewerLoaders', () => {
  let seen: unknown;
  const { run } = setUp({
    loaders: (ctx) => {
      seen = (ctx as GraphContext).viewer;
      return {};
    },
  });
  assert.throws(() => run().context.loaders, /viewerLoaders/);
  assert.equal(seen, undefined);
});

test('shared loaders can not use a back end that forwards the viewer', () => {
  const { contexts } = setUp();
  const probe = contexts.scopeOf({}).backends['probe'] as unknown as { readViewer: () => unknown };
  assert.throws(() => probe.readViewer(), /shared by all viewers/);
});

test('viewerLoaders are fresh for each execution and may read the viewer', () => {
  const { contexts } = setUp({ viewerLoaders: (ctx) => ({ mine: `of ${String(ctx.viewer['id'])}` }) });
  const scope = contexts.scopeOf({});
  const reads = new ReadSet();
  const one = scope.execution({ id: 1 }, reads).context;
  const two = scope.execution({ id: 2 }, new ReadSet()).context;
  assert.deepEqual([one.viewerLoaders, two.viewerLoaders], [{ mine: 'of 1' }, { mine: 'of 2' }]);
  assert.equal(reads.size, 1);
});

test('a primer seeds its loader from the event, once, before it is first used', async () => {
  let primed = 0;
  const { run, batches } = withSellers((ctx) => {
    const prime = primeWith(loadersOf(ctx).seller, 'listing.sellers', 'id');
    return { seller: (event) => ((primed += 1), prime(event)) };
  });
  const { context } = run({
    listing: { sellers: [{ id: 1, name: 'Ann' }, { id: 2, name: 'Bob' }, { name: 'nobody' }] },
  });
  assert.equal(primed, 0);
  const { seller } = loadersOf(context);
  assert.deepEqual(await Promise.all([seller.load(1), seller.load(2), seller.load(3)]), [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
    { id: 3, name: 'seller 3' },
  ]);
  assert.deepEqual(batches, [[3]]);
  assert.equal(loadersOf(context).seller, seller);
  assert.equal(primed, 1);
});

test('a primer passes over events that carry nothing for it', async () => {
  for (const event of [{}, { seller: null }, { seller: 'text' }, { seller: [] }, null, 'text']) {
    const { run, batches } = withSellers((ctx) => ({
      seller: primeWith(loadersOf(ctx).seller, 'seller', 'id'),
    }));
    await loadersOf(run(event).context).seller.load(1);
    assert.deepEqual(batches, [[1]]);
  }
  const message = /expected a DataLoader for seller, got undefined/;
  assert.throws(() => primeWith(undefined, 'seller', 'id'), message);
});

test('a graph adds its own parts to the context, beside those of the gateway', () => {
  const { run } = setUp({
    context: (base) => Proxy.lazy({ greeting: `hello ${String(base.viewer['id'])}`, now: 5 }),
  });
  const { context, reads } = run({}, { id: 7 });
  assert.equal(reads.size, 0);
  const extended = context as GraphContext & { greeting: string };
  assert.equal(extended.greeting, 'hello 7');
  assert.equal(extended.now, 5);
  assert.equal(extended.viewer['id'], 7);
  assert.ok('greeting' in context && 'viewer' in context);
  assert.deepEqual(Object.keys(context).slice(-1), ['greeting']);
});

test('the signal is aborted with the reason for which the execution is given up', () => {
  const { run } = setUp();
  const { execution, context } = run();
  assert.equal(context.signal.aborted, false);
  execution.abort(new Error('too long'));
  assert.equal((context.signal.reason as Error).message, 'too long');
  run().execution.abort(new Error('no part of the execution has read the signal'));
});
