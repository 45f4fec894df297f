import type { Loader, Loaders, Primer } from '../graph/api/context.ts';

/**
 * A primer that takes objects from an event and gives them to a loader, so that nobody has to fetch what has come
 * already.
 *
 * @param loader a DataLoader
 * @param path where in the event the object is, or a list of them: `seller`, `listing.agents`
 * @param key the field of each object that it is loaded by
 */
export function primeWith(loader: unknown, path: string, key: string): Primer {
  if (!isLoader(loader)) {
    throw new TypeError(
      `primeWith: expected a DataLoader for ${path}, got ${loader === null ? 'null' : typeof loader}`,
    );
  }
  const steps = path.split('.');
  return (event) => {
    const found = steps.reduce<unknown>((value, step) => field(value, step), event);
    for (const object of Array.isArray(found) ? (found as unknown[]) : [found]) {
      const id = field(object, key);
      if (id !== undefined && id !== null) loader.prime(id as never, object);
    }
  };
}

/** Loaders of which each is primed once, when it is first read. Primers have the names of the loaders they seed. */
export function primed(
  loaders: object,
  primers: () => Readonly<Record<string, Primer>>,
  event: unknown,
): Loaders {
  const done = new Set<string>();
  return new Proxy(loaders as Loaders, {
    get(target, name, receiver) {
      const loader: unknown = Reflect.get(target, name, receiver);
      if (typeof name === 'string' && loader !== undefined && !done.has(name)) {
        // Before it runs, since primers read their loader; not if it fails, so that the next read tries again.
        done.add(name);
        try {
          primers()[name]?.(event);
        } catch (error) {
          done.delete(name);
          throw error;
        }
      }
      return loader;
    },
  });
}

function isLoader(value: unknown): value is Loader {
  return typeof (value as Partial<Loader> | null | undefined)?.prime === 'function';
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
