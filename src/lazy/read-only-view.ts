import { demandNoViewer } from './viewer-argument.ts';

/** How a view passes on the values of its target. */
export interface ViewRules {
  /** Makes the value of a property, or the result of a call, safe to share. */
  share(value: unknown): unknown;
  /** Whether calls of a method are refused. */
  refuses(method: PropertyKey): boolean;
}

type Call = (...args: unknown[]) => unknown;

const views = new WeakSet<object>();

export function isView(value: object): boolean {
  return views.has(value);
}

/** A bound function has no `prototype` that a proxy must return unchanged, and still works with `new`. */
function bound(): void {}

/**
 * The view that executions get of a shared object with methods, such as a DataLoader, or of a function: they can read its
 * properties and call its methods, with the object itself as `this`, but write nothing to it. Properties whose names begin
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
  /** By key, so that each read returns the same function. */
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

  /** Describes an accessor, as code that lists the enumerable keys must not build lazy values. */
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

  /** An instance belongs to the execution that made it, so it is not shared. */
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
