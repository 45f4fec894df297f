import {
  defaultTypeResolver,
  getNullableType,
  GraphQLError,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLTypeResolver,
} from 'graphql';

/** Most errors of a result. */
export const MAX_ERRORS = 1_000;

/**
 * The error of everything that comes after an execution's last error. graphql-js takes an error with a path as it is, and
 * makes none of its own.
 */
export const ENDED = new GraphQLError(`The execution ended after ${MAX_ERRORS} errors.`, { path: [] });

/**
 * Ends an execution by graphql-js after a thousand errors. graphql-js captures two stacks for an error, which takes 30 µs,
 * and a message of 1 MB may hold 300,000 values of a wrong type: they would stop the event loop for ten seconds. All
 * fields and items after the last error fail without being looked at.
 */
class ErrorBudget {
  #left = MAX_ERRORS;

  /** @throws ENDED if there are no errors left */
  check(): void {
    if (this.#left <= 0) throw ENDED;
  }

  /** @throws ENDED if there was none left */
  take(): void {
    this.check();
    this.#left -= 1;
  }

  /**
   * Judges a value as graphql-js will. The fields of objects are judged when they are resolved.
   *
   * @returns the value, with errors in place of values that don't fit
   */
  judged(value: unknown, type: GraphQLOutputType): unknown {
    if (this.#left <= 0) return ENDED;
    if (value instanceof Promise) return this.#settled(value, type);
    if (value === undefined || value === null ? isNonNullType(type) : value instanceof Error) {
      this.#left -= 1;
      return value;
    }
    if (value === undefined || value === null || isThenable(value)) return value;
    const nullable = getNullableType(type);
    if (isLeafType(nullable)) return this.#leaf(value, nullable);
    if (!isListType(nullable)) return value;
    if (Array.isArray(value)) return this.#items(value, nullable.ofType);
    if (typeof value !== 'object' || !(Symbol.iterator in value)) this.#left -= 1;
    return value;
  }

  #settled(promise: Promise<unknown>, type: GraphQLOutputType): Promise<unknown> {
    return promise.then(
      (value) => this.judged(value, type),
      (reason: unknown) => {
        this.take();
        throw reason;
      },
    );
  }

  #leaf(value: unknown, type: GraphQLLeafType): unknown {
    try {
      const serialized: unknown = type.serialize(value);
      if (serialized === undefined || serialized === null) this.#left -= 1;
      return value;
    } catch (error) {
      this.#left -= 1;
      return error instanceof Error ? error : value;
    }
  }

  /** @returns the list itself if all of it fits */
  #items(list: readonly unknown[], type: GraphQLOutputType): readonly unknown[] {
    let judged: unknown[] | undefined;
    for (let index = 0; index < list.length; index += 1) {
      const item = this.judged(list[index], type);
      if (item !== list[index]) (judged ??= [...list])[index] = item;
      // One error stands for the rest.
      if (item === ENDED) return judged?.fill(null, index + 1) ?? list;
    }
    return judged ?? list;
  }
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown }).then === 'function';
}

const budgets = new WeakMap<object, ErrorBudget>();

/** Begins an execution by graphql-js. @param context of the execution; one that is no object has no bound */
export function beginErrors(context: unknown): void {
  if (typeof context === 'object' && context !== null) budgets.set(context, new ErrorBudget());
}

/** Counts an error that is about to be thrown. @throws ENDED in its place, if there are no errors left */
export function countError(context: unknown): void {
  budgets.get(context as object)?.take();
}

type Resolver = GraphQLFieldResolver<unknown, unknown>;

/** A resolver whose errors, and whose values that don't fit, count. Does nothing where compiled code calls it. */
export function bounded(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const budget = budgets.get(context as object);
    if (budget === undefined) return resolve(source, args, context, info);
    budget.check();
    try {
      return budget.judged(resolve(source, args, context, info), info.returnType);
    } catch (error) {
      budget.take();
      throw error;
    }
  };
}

/** Names the type by `__typename`. An object without the name of one of the types counts as an error. */
export const boundedTypeResolver: GraphQLTypeResolver<unknown, unknown> = (value, context, info, type) => {
  const budget = budgets.get(context as object);
  budget?.check();
  const name = defaultTypeResolver(value, context, info, type);
  if (budget !== undefined && !(name instanceof Promise) && !isNameOf(name, info.schema, type)) budget.take();
  return name;
};

function isNameOf(name: unknown, schema: GraphQLSchema, type: GraphQLAbstractType): boolean {
  const named = typeof name === 'string' ? schema.getType(name) : undefined;
  return isObjectType(named) && schema.isSubType(type, named);
}
