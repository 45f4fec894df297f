/** `npm run bench:context`: what one context takes on the heap, beside one that is built eagerly. */
import assert from 'node:assert/strict';
import type { Backend, RequestOptions } from '../../src/graph/backend.ts';
import type { GraphContext } from '../../src/graph/context-types.ts';
import { lazy } from '../../src/lazy/lazy.ts';
import { ReadSet } from '../../src/lazy/reads.ts';
import { BACKENDS, company, loader, LOADERS, primer, PRIMERS } from './company.ts';
import { contextsOver } from './contexts.ts';
import { heapOfEach } from './heap.ts';

const SUBSCRIBERS = 4_000;

interface Variant {
  readonly name: string;
  /** Contexts held; more where each is small. */
  readonly count: number;
  make(): unknown;
}

const viewer = Object.freeze({ id: 1, role: 'bidder' });
const event = Object.freeze({ listing_id: 1 });

/** As many servers do it: whatever a resolver might want is made for each context. */
function eagerContext(): object {
  const backends = Object.fromEntries(numbers(BACKENDS).map((index) => [`backend${index}`, eagerBackend()]));
  const loaders = Object.fromEntries(
    numbers(LOADERS).map((index) => [`loader${twoDigits(index)}`, loader(backends)]),
  );
  const primers = Object.fromEntries(
    numbers(PRIMERS).map((index) => [
      `primer${twoDigits(index)}`,
      primer(loaders, `loader${twoDigits(index % LOADERS)}`),
    ]),
  );
  return { viewer, backends, loaders, viewerLoaders: {}, primers, now: Date.now() };
}

/** Nobody calls here. */
const call = <T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> =>
  Promise.reject(new Error(`${method} ${path} ${String(body)} ${String(options)}: nobody calls here`));

function eagerBackend(): Backend {
  return {
    get: (path, options) => call('GET', path, undefined, options),
    delete: (path, options) => call('DELETE', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    put: (path, body, options) => call('PUT', path, body, options),
    patch: (path, body, options) => call('PATCH', path, body, options),
  };
}

const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);
const twoDigits = (index: number): string => String(index).padStart(2, '0');

/** The scope of an event comes with each context, though in a gateway it is there once for all viewers. */
function lazyContext(contexts: ReturnType<typeof contextsOver>['contexts']): GraphContext {
  return contexts.scopeOf(event).execution(viewer, new ReadSet()).context;
}

function variantsOver(
  open: (backendCount: number) => ReturnType<typeof contextsOver>['contexts'],
): Variant[] {
  const contexts = open(BACKENDS);
  return [
    { name: 'eager', count: 250, make: eagerContext },
    { name: 'lazy, untouched', count: 10_000, make: () => lazyContext(contexts) },
    {
      name: 'lazy, viewer.role read',
      count: 5_000,
      make: () => {
        const context = lazyContext(contexts);
        assert.equal(context.viewer['role'], 'bidder');
        return context;
      },
    },
    {
      name: 'lazy, 1 back end and 1 loader read',
      count: 1_000,
      make: () => {
        const context = lazyContext(contexts);
        assert.ok(context.backends['backend7'] && context.loaders['loader07']);
        return context;
      },
    },
    ...[0, 50, 500].map((size) => {
      const sized = open(size);
      return { name: `lazy, untouched, ${size} of each`, count: 10_000, make: () => lazyContext(sized) };
    }),
  ];
}

/** Both ways must offer the same. */
function checkEqual(one: GraphContext, other: GraphContext): void {
  for (const key of ['loaders', 'primers'] as const)
    assert.deepEqual(Object.keys(one[key]), Object.keys(other[key]));
  for (const index of numbers(BACKENDS)) {
    for (const method of ['get', 'delete', 'post', 'put', 'patch'] as const)
      for (const { backends } of [one, other])
        assert.equal(typeof backends[`backend${index}`]?.[method], 'function');
  }
}

const opened: { close(): Promise<void> }[] = [];
const variants = variantsOver((size) => {
  const code =
    size === BACKENDS
      ? company
      : { loaders: () => lazy(Object.fromEntries(numbers(size).map((index) => [index, () => index]))) };
  const over = contextsOver(size, code);
  opened.push(over);
  return over.contexts;
});
const [eager, untouched] = variants;
assert.ok(eager && untouched);
checkEqual(eager.make() as GraphContext, untouched.make() as GraphContext);

console.log(`${BACKENDS} back ends × 5 methods, ${LOADERS} loaders, ${PRIMERS} primers\n`);
const table: Record<string, Record<string, string | number>> = {};
for (const { name, count, make } of variants) {
  for (let warm = 0; warm < 20; warm += 1) make();
  const held: unknown[] = [];
  const { objects, bytes } = await heapOfEach(count, () => {
    while (held.length < count) held.push(make());
  });
  assert.equal(held.length, count);
  table[name] = {
    'objects per context': Math.round(objects),
    'bytes per context': Math.round(bytes),
    [`MB for ${SUBSCRIBERS} contexts`]: ((bytes * SUBSCRIBERS) / 1e6).toFixed(1),
  };
}
console.table(table);
for (const { close } of opened) await close();
