import type { Loader, Loaders, Primer } from '../graph/api/context.ts';

/**
 * Makes a primer that puts objects of an event into a loader's cache, so that resolvers do not fetch them.
 *
 * @param loader a DataLoader
 * @param path path in the event to an object or a list of objects: `seller`, `listing.agents`
 * @param key the field of each object whose value is the loader's key
 * @throws TypeError if `loader` is no DataLoader
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

/**
 * Wraps loaders so that each is primed once, when it is first read.
 *
 * @param primers by the name of the loader that they prime
 */
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
        // Marked before the primer runs, since primers read their loader; unmarked if it fails, so that the next read
        // tries again.
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
