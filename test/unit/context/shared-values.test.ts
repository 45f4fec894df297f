import assert from 'node:assert/strict';
import test from 'node:test';
import DataLoader from 'dataloader';
import { Contexts } from '../../../src/context/event-scope.ts';
import { primeWith } from '../../../src/context/primers.ts';
import type { SharedContext } from '../../../src/graph/api/context.ts';
import type { GraphDefinition } from '../../../src/graph/api/define-graph.ts';
import { ReadSet } from '../../../src/lazy/reads.ts';

type Code = Pick<GraphDefinition, 'loaders' | 'primers'>;
type Row = Record<string, never>;

interface Items {
  readonly item: DataLoader<number, unknown>;
}

/** What two executions of one event, Ann's and Bob's, get as `ctx.loaders`. */
function executions<L = Items>(code: Code, event: unknown = {}): { ann: L; bob: L; primers: object } {
  const scope = new Contexts(code, { bind: () => ({}) }, Date.now).scopeOf(event);
  const contextOf = (id: string) => scope.execution({ id }, new ReadSet()).context;
  const ann = contextOf('ann');
  return { ann: ann.loaders as L, bob: contextOf('bob').loaders as L, primers: ann.primers };
}

const returning = (make: () => unknown): Code => ({
  loaders: () => ({ item: new DataLoader(async (ids: readonly number[]) => ids.map(() => make())) }),
});

/** The same item, as Ann's and as Bob's execution gets it. */
async function itemOf<T = Row>(make: () => unknown): Promise<{ ann: T; bob: T }> {
  const { ann, bob } = executions(returning(make));
  return { ann: (await ann.item.load(1)) as T, bob: (await bob.item.load(1)) as T };
}

const write = (row: object, key = 'note'): void => {
  (row as Record<string, unknown>)[key] = 'of ann';
};

test('a row that a loader returns is frozen, and all in it: objects, lists, those frozen only outside, circles', async () => {
  const { ann } = await itemOf<Record<string, object>>(() => {
    const row: Record<string, unknown> = {
      id: 1,
      within: { deep: [{}] },
      outside: Object.freeze({ open: {} }),
    };
    row['self'] = row;
    return row;
  });
  const { within, outside } = ann as { within: { deep: [object] }; outside: { open: object } };
  for (const object of [ann, within, within.deep, within.deep[0], outside.open]) {
    assert.throws(() => write(object), TypeError);
  }
  assert.throws(() => within.deep.push({}), TypeError);
  assert.throws(() => Reflect.deleteProperty(ann, 'id') || assert.fail('refused'), /refused/);
});

test('what loadMany gives is frozen, and what a loader that is a function, or an object of the graph, returns', async () => {
  const rows = { peek: {} };
  interface Own extends Items {
    readonly ask: (id: number) => object;
    readonly own: { peek: () => object; later: () => Promise<object>; all: () => AsyncGenerator<object> };
  }
  const { ann } = executions<Own>({
    loaders: () => ({
      ...(returning(() => ({})).loaders?.({} as never) as Items),
      ask: () => rows.peek,
      own: {
        peek: () => rows.peek,
        later: async () => ({}),
        async *all() {
          yield {};
        },
      },
    }),
  });
  const [many] = await ann.item.loadMany([1]);
  for (const row of [many, ann.ask(1), ann.own.peek(), await ann.own.later()]) {
    assert.throws(() => write(row as object), TypeError);
  }
  for await (const row of ann.own.all()) assert.throws(() => write(row), TypeError);
});

test('a Map, a Set and a Date that a loader returns can be read, but the methods that change them throw and say so', async () => {
  const { ann } = await itemOf<{ map: Map<string, object>; set: Set<object>; date: Date }>(() => ({
    map: new Map([['a', {}]]),
    set: new Set([{}]),
    date: new Date(0),
  }));
  const { map, set, date } = ann;
  assert.deepEqual([map.size, set.size, date.getTime()], [1, 1, 0]);
  assert.throws(
    () => map.set('note', {}),
    /a Map that viewers share to be read only, got a call of set: change a copy, new Map\(map\)/,
  );
  assert.throws(() => set.clear(), /a Set that viewers share/);
  assert.throws(() => date.setTime(1), /a Date that viewers share/);
  assert.throws(() => date.setUTCFullYear(1), /a Date that viewers share/);
  for (const row of [...map.values(), ...set]) assert.throws(() => write(row), TypeError);
  assert.equal(new Map(map).set('b', {}).size, 2);
  assert.equal(new Date(date).setTime(5), 5);
});

test('a Map, a Set or a Date that the graph has frozen is an error of its own, for each reader', async () => {
  for (const frozen of [new Map(), new Set(), new Date(0)].map((item) => Object.freeze(item))) {
    for (const row of [frozen, { frozen }, Object.freeze({ within: Object.freeze([frozen]) })]) {
      const { ann, bob } = executions(returning(() => row));
      const message =
        /^expected a (Map|Set|Date) that a loader returns not to be frozen by the graph, got one that is/;
      for (const { item } of [ann, ann, bob])
        await assert.rejects(item.load(1), { name: 'TypeError', message });
    }
  }
});

/** The same item for two readers, alone and in a row. */
async function copies<T extends object>(make: () => T): Promise<{ ann: T; bob: T }[]> {
  const { ann, bob } = await itemOf<{ own: T }>(() => ({ own: make() }));
  return [await itemOf<T>(make), { ann: ann.own, bob: bob.own }];
}

test('of bytes and of a URL that a loader returns, alone or in a row, each reader has a copy', async () => {
  for (const bytes of [Buffer.from('ab'), new Uint8Array([97, 98])]) {
    for (const { ann, bob } of await copies<Uint8Array>(() => bytes)) {
      ann[0] = 0;
      assert.deepEqual(Buffer.from(bob).toString(), 'ab');
      assert.equal(Buffer.isBuffer(bob), Buffer.isBuffer(bytes));
    }
  }
  for (const { ann, bob } of await copies(() => new URL('https://a.example/b?c=d'))) {
    ann.pathname = '/of-ann';
    ann.searchParams.set('c', 'of ann');
    assert.ok(bob instanceof URL);
    assert.equal(bob.href, 'https://a.example/b?c=d');
  }
});

test('what properties of a function hold is made safe, as what its calls return, and it can not be written to', async () => {
  class Kind {
    static readonly known = { a: {} };
    readonly own: string;
    constructor(own: string) {
      this.own = own;
    }
  }
  const ask = Object.assign((id: number) => ({ id }), {
    cache: { hits: {} },
    map: new Map<string, object>(),
    peek: () => ask.cache,
  });
  interface Rich {
    readonly ask: typeof ask;
    readonly Kind: typeof Kind;
  }
  const { ann, bob } = await itemOf<Rich>(() => ({ ask, Kind }));
  const described = (name: keyof typeof ask): unknown => {
    const { value, get } = Object.getOwnPropertyDescriptor(ann.ask, name) ?? {};
    return get?.call(ann.ask) ?? value;
  };
  const { cache } = ann.ask;
  const ofFunction = [ann.ask, cache, cache.hits, ann.ask.peek(), ann.ask(1), described('cache')];
  for (const held of [...ofFunction, ann.Kind, ann.Kind.known, ann.Kind.known.a, ann.Kind.prototype])
    assert.throws(() => write(held as object), TypeError);
  assert.throws(() => ann.ask.map.set('a', {}), TypeError);
  assert.deepEqual(Object.keys(bob.ask), ['cache', 'map', 'peek']);
  assert.equal(ann.ask, bob.ask);
  const made = new ann.Kind('x');
  assert.equal(made.own, 'x');
  assert.ok(made instanceof ann.Kind && made instanceof Kind);
  assert.deepEqual(ann.ask.call(undefined, 2), { id: 2 });
});

test('an instance of a class that a loader returns keeps its class and its methods, and can not be written to', async () => {
  class Seller {
    name = 'Ann';
    readonly #secret = 'x';
    get shown(): string {
      return `${this.name} ${this.#secret}`;
    }
  }
  const { ann } = await itemOf<Seller>(() => new Seller());
  assert.ok(ann instanceof Seller);
  assert.equal(ann.shown, 'Ann x');
  assert.throws(() => (ann.name = 'Bob'), TypeError);
});

test('what getters, functions and promises in a row give is frozen, and a lazy row stays lazy', async () => {
  const inner = { got: {}, called: {}, lazy: {} };
  let built = 0;
  interface Rich {
    readonly got: object;
    readonly called: () => object;
    readonly promised: Promise<object>;
    readonly lazy: { readonly never: object; readonly value: object };
  }
  const { ann, bob } = await itemOf<Rich>(() => ({
    get got() {
      return inner.got;
    },
    called: () => inner.called,
    promised: Promise.resolve({}),
    lazy: Proxy.lazy({ never: (built += 1), value: inner.lazy }),
  }));
  for (const row of [ann.got, ann.called(), await ann.promised, ann.lazy.value, ann.lazy]) {
    assert.throws(() => write(row), TypeError);
  }
  assert.throws(() => write(ann, 'got'), TypeError);
  assert.equal(built, 0);
  assert.deepEqual(Object.keys(bob.lazy), ['never', 'value']);
  assert.equal(built, 0);
});

test('an error that a loader rejects with is frozen', async () => {
  const failure = Object.assign(new Error('not there'), { extensions: { code: 'GONE' } });
  const { ann } = executions(returning(() => failure));
  const caught: unknown = await ann.item.load(1).catch((error: unknown) => error);
  assert.equal(caught, failure);
  assert.throws(() => write(failure), TypeError);
  assert.throws(() => (failure.message = 'for ann'), TypeError);
  assert.throws(() => write(failure.extensions), TypeError);
});

test('what a primer has put into a loader is frozen', async () => {
  const { ann } = executions(
    {
      ...returning(() => ({})),
      primers: (ctx) => ({
        item: (event) =>
          (ctx.loaders as unknown as Items).item.prime(1, { ...(event as object), primed: {} }),
      }),
    },
    { id: 1 },
  );
  const row = (await ann.item.load(1)) as { id: number; primed: object };
  assert.equal(row.id, 1);
  assert.throws(() => write(row.primed), TypeError);
});

test('resolvers can neither write to `ctx.loaders`, a loader and `ctx.primers`, nor change what a loader has cached', async () => {
  const { ann, bob, primers } = executions({
    ...returning(() => ({ of: 'all' })),
    primers: (ctx) => ({ item: primeWith((ctx.loaders as unknown as Items).item, 'item', 'id') }),
  });
  const said = /expected note to be read only, got a write: all viewers of an event share its loaders/;
  for (const shared of [ann, ann.item, primers]) {
    assert.throws(() => write(shared), said);
    assert.throws(() => Object.assign(shared, { note: 1 }), said);
    assert.throws(() => Object.defineProperty(shared, 'note', { value: 1 }), said);
    assert.throws(() => Object.setPrototypeOf(shared, {}), TypeError);
  }
  assert.throws(
    () => ann.item.prime(1, { of: 'ann' }),
    /expected prime to be called by loaders or primers only, got a call from a resolver/,
  );
  assert.throws(() => ann.item.clear(1), TypeError);
  assert.throws(() => ann.item.clearAll(), TypeError);
  assert.throws(() => (primers as { item: (event: object) => void }).item({ item: { id: 1 } }), TypeError);
  assert.ok(ann.item instanceof DataLoader);
  assert.equal(JSON.stringify(ann), '{"item":{"name":null}}', 'the cache is not shown');
  assert.deepEqual(await bob.item.load(1), { of: 'all' });
});

test('loaders of an event use one another as they are: only what executions get is frozen', async () => {
  interface Two extends Items {
    readonly name: DataLoader<number, { name: string; seen?: boolean }>;
  }
  const loadersOf = (ctx: SharedContext): Two => ctx.loaders as unknown as Two;
  const { ann } = executions<Two>({
    loaders: (ctx) => ({
      name: new DataLoader<number, object>(async (ids) => ids.map((id) => ({ name: `number ${id}` }))),
      item: new DataLoader(async (ids: readonly number[]) => {
        const rows = await loadersOf(ctx).name.loadMany(ids);
        loadersOf(ctx).name.prime(99, { name: 'primed' });
        for (const row of rows) Object.assign(row, { seen: true });
        return rows;
      }),
    }),
  });
  assert.deepEqual(await ann.item.load(7), { name: 'number 7', seen: true });
  assert.deepEqual(await ann.name.load(99), { name: 'primed' });
});

test('objects that the graph keeps behind methods work as before: state of their own, iterators, emitters', async () => {
  class Cache {
    hits = 0;
    readonly byId = new DataLoader<number, object>(async (ids) => ids.map((id) => ({ id })));
    count(): number {
      return (this.hits += 1);
    }
    itself(): this {
      return this;
    }
  }
  const counter = {
    hits: 0,
    count: (): number => (counter.hits += 1),
  };
  const { ann, bob } = executions<{ cache: Cache; counter: typeof counter }>({
    loaders: () => Proxy.lazy({ cache: new Cache(), counter }),
  });
  assert.deepEqual([ann.counter.count(), bob.counter.count(), ann.counter.hits], [1, 2, 2]);
  assert.throws(() => write(ann.counter), TypeError);
  assert.equal(ann.cache.count(), 1);
  assert.equal(bob.cache.itself().count(), 2);
  assert.equal(ann.cache.hits, 2);
  assert.throws(() => write(ann.cache.itself()), TypeError);
  const row = await ann.cache.byId.load(3);
  assert.throws(() => write(row), TypeError);
});
