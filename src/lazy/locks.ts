/** Objects that Object.freeze does not make read-only: they do not hold their contents in properties. */

type Methods = PropertyDescriptorMap;

const LOCKS: readonly (readonly [type: new () => object, methods: Methods])[] = [
  [Map, locksOf('a Map', ['set', 'delete', 'clear'], 'new Map(map)')],
  [Set, locksOf('a Set', ['add', 'delete', 'clear'], 'new Set(set)')],
  [Date, locksOf('a Date', settersOf(Date.prototype), 'new Date(date)')],
  [
    URLSearchParams,
    locksOf('URLSearchParams', ['append', 'delete', 'set', 'sort'], 'new URLSearchParams(params)'),
  ],
];

/**
 * Makes methods that change a Map, a Set, a Date or URLSearchParams throw. Does nothing for other objects.
 *
 * @throws TypeError if the graph has frozen the object: then its methods can't be replaced, and still change it
 */
export function lock(object: object): void {
  for (const [type, methods] of LOCKS) {
    if (!(object instanceof type)) continue;
    const [first = ''] = Object.keys(methods);
    if (Object.hasOwn(object, first)) continue;
    if (!Object.isExtensible(object)) throw frozenBefore(type.name);
    Object.defineProperties(object, methods);
  }
}

export function isLockable(object: object): boolean {
  return LOCKS.some(([type]) => object instanceof type);
}

/** Whether each reader has to get a copy: bytes and URLs can be neither frozen nor locked. */
export function isCopied(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof URL;
}

export function copyOf(value: object): object {
  if (value instanceof URL) return new URL(value.href);
  return Buffer.isBuffer(value) ? Buffer.from(value) : structuredClone(value);
}

function frozenBefore(type: string): TypeError {
  return new TypeError(
    `expected a ${type} that a loader returns not to be frozen by the graph, got one that is: ` +
      'that does not make it read only, and keeps the gateway from doing so',
  );
}

function settersOf(prototype: object): string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => name.startsWith('set'));
}

function locksOf(what: string, names: readonly string[], copy: string): Methods {
  return Object.fromEntries(
    names.map((name) => {
      const value = (): never => {
        throw new TypeError(
          `expected ${what} that viewers share to be read only, got a call of ${name}: change a copy, ${copy}`,
        );
      };
      return [name, { value }];
    }),
  );
}
