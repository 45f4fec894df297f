import { demandNoViewer } from './viewer-argument.ts';

/** How a view passes on what its target holds. */
export interface ViewRules {
  /** Makes what a property holds, or a call returns, safe to share. */
  share(value: unknown): unknown;
  /** Whether calls of a method are refused. */
  refuses(method: PropertyKey): boolean;
}

type Call = (...args: unknown[]) => unknown;

const views = new WeakSet<object>();

export function isView(value: object): boolean {
  return views.has(value);
}

/** Once bound it has no `prototype` to return as it is, and is for `new` all the same. */
function bound(): void {}

/**
 * What executions get of an object with methods that they share, a DataLoader for example, or of a function: its properties can be read
 * and its methods called, as methods of the object itself; nothing can be written to it. Properties whose names begin
 * with an underscore are hidden.
 */
export function readOnlyView<T extends object>(target: T, rules: ViewRules): T {
  // Not the target itself: a proxy must return the properties of a frozen target as they are.
  const shadow: object =
    typeof target === 'function'
      ? bound.bind(undefined)
      : (Object.create(Reflect.getPrototypeOf(target)) as object);
  const view = new Proxy(shadow, new ReadOnlyView(target, rules)) as T;
  views.add(view);
  return view;
}

class ReadOnlyView implements ProxyHandler<object> {
  readonly #target: object;
  readonly #rules: ViewRules;
  /** By key, so that each read gives the same one. */
  readonly #methods = new Map<PropertyKey, { readonly of: Call; readonly method: Call }>();

  constructor(target: object, rules: ViewRules) {
    this.#target = target;
    this.#rules = rules;
  }

  get(_shadow: object, key: PropertyKey, view: unknown): unknown {
    if (isPrivate(key)) return undefined;
    const value: unknown = Reflect.get(this.#target, key);
    if (key === 'constructor') return value;
    return typeof value === 'function' ? this.#method(key, value as Call, view) : this.#passOn(value, view);
  }

  has(_shadow: object, key: PropertyKey): boolean {
    return !isPrivate(key) && Reflect.has(this.#target, key);
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.#target).filter((key) => !isPrivate(key));
  }

  /** An accessor, since code that lists the enumerable keys must not build lazy values. */
  getOwnPropertyDescriptor(shadow: object, key: PropertyKey): PropertyDescriptor | undefined {
    const found = Reflect.getOwnPropertyDescriptor(this.#target, key);
    if (found === undefined || isPrivate(key)) return undefined;
    return {
      get: () => this.get(shadow, key, undefined),
      enumerable: found.enumerable === true,
      configurable: true,
    };
  }

  apply(_shadow: object, self: unknown, args: unknown[]): unknown {
    demandNoViewer([self, ...args]);
    return this.#rules.share(Reflect.apply(this.#target as Call, self, args));
  }

  /** An instance is its maker's own. */
  construct(_shadow: object, args: unknown[], newTarget: Call): object {
    demandNoViewer(args);
    const target = this.#target as Call;
    return Reflect.construct(target, args, isView(newTarget) ? target : newTarget) as object;
  }

  set(_shadow: object, key: PropertyKey): never {
    throw written(key);
  }

  defineProperty(_shadow: object, key: PropertyKey): never {
    throw written(key);
  }

  deleteProperty(_shadow: object, key: PropertyKey): never {
    throw written(key);
  }

  setPrototypeOf(): never {
    throw written('__proto__');
  }

  preventExtensions(): never {
    throw new TypeError('what executions share of an event is read only already: it cannot be frozen');
  }

  #method(key: PropertyKey, of: Call, view: unknown): Call {
    const known = this.#methods.get(key);
    if (known?.of === of) return known.method;
    const method: Call = this.#rules.refuses(key)
      ? () => {
          throw refused(key);
        }
      : (...args) => {
          demandNoViewer(args);
          return this.#passOn(Reflect.apply(of, this.#target, args), view);
        };
    this.#methods.set(key, { of, method });
    return method;
  }

  /** A method that returns its own object returns the view. */
  #passOn(value: unknown, view: unknown): unknown {
    return value === this.#target ? view : this.#rules.share(value);
  }
}

/** The cache of a DataLoader, for example, which has to remain as it is. */
function isPrivate(key: PropertyKey): boolean {
  return typeof key === 'string' && key.startsWith('_') && key !== '__proto__';
}

function written(key: PropertyKey): TypeError {
  return new TypeError(
    `expected ${String(key)} to be read only, got a write: all viewers of an event share its loaders. ` +
      'What depends on the viewer belongs in viewerLoaders, or in a resolver.',
  );
}

function refused(method: PropertyKey): TypeError {
  return new TypeError(
    `expected ${String(method)} to be called by loaders or primers only, got a call from a resolver: ` +
      'it changes what all viewers of the event get. What depends on the viewer belongs in viewerLoaders.',
  );
}
