import {
  defaultFieldResolver,
  defaultTypeResolver,
  getArgumentValues,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLUnionType,
  isInterfaceType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
  isNullableType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  locatedError,
  responsePathAsArray,
  type GraphQLAbstractType,
  type GraphQLError,
  type GraphQLField,
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { isGuarded } from '../graph/auth/attach-auth.ts';
import { AccessError } from '../graph/auth/refusal.ts';
import { eventItself } from '../graph/directives/event-field.ts';
import { ENDED, MAX_ERRORS } from '../graph/error-budget.ts';
import { guard, isPromise } from './guard.ts';
import type { Variables } from './variables.ts';

/** The context argument of compiled code: an execution's own context, and its coerced variables. */
export interface CompiledRun {
  readonly context: unknown;
  readonly variables: Variables;
  /** Number of resolvers that have thrown. The result is not used then. */
  failures: number;
  /** Errors of fields that the viewer may not use, as graphql-js reports them. */
  refusals: GraphQLError[] | undefined;
}

const MAX_FAILURES = 100;

type Resolve = NonNullable<GraphQLField<unknown, CompiledRun>['resolve']>;
type Path = GraphQLResolveInfo['path'];
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * A copy of a schema for graphql-jit that rules out the cases in which graphql-jit and graphql-js differ:
 *
 * - Fields have no arguments; graphql-js evaluates them when a resolver is called that may read them.
 * - Promises are guarded (guard.ts).
 * - A value that graphql-jit would read wrongly (a method, a promise or a primitive in place of an object) is an error:
 *   graphql-js then executes the operation again.
 */
export class JitSchema {
  readonly schema: GraphQLSchema;
  /** Scalars and enums by name; see `serializer`. */
  readonly serializers: Record<string, (value: unknown) => unknown> = Object.create(null);
  readonly #copies = new Map<GraphQLNamedType, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType>();

  /** Values that could not be serialized since the last execution began. */
  #failures = 0;

  constructor(original: GraphQLSchema) {
    const roots = new Set<GraphQLNamedType | null | undefined>([
      original.getQueryType(),
      original.getSubscriptionType(),
    ]);
    for (const type of Object.values(original.getTypeMap())) {
      if (isIntrospectionType(type)) continue;
      if (isObjectType(type)) this.#copies.set(type, this.#object(type, roots.has(type)));
      else if (isInterfaceType(type)) this.#copies.set(type, this.#interface(type));
      else if (isUnionType(type)) this.#copies.set(type, this.#union(type));
      else if (isLeafType(type)) {
        const serialize = isSpecifiedScalarType(type) ? type.serialize.bind(type) : serializer(type);
        this.serializers[type.name] = this.#counted(serialize);
      }
    }
    this.schema = new GraphQLSchema({
      query: this.#copyOf(original.getQueryType()),
      subscription: this.#copyOf(original.getSubscriptionType()),
      types: [...this.#copies.values()],
      directives: [],
      assumeValid: true,
    });
  }

  /** To be called when an execution begins. */
  begin(): void {
    this.#failures = 0;
  }

  /**
   * A result with an error is not used, so errors past the first hundred are one and the same. Each takes 15 µs otherwise,
   * and an event may hold hundreds of thousands. An execution that has waited meanwhile may get that error for a value
   * that fits: graphql-js then executes it again.
   */
  #counted(serialize: (value: unknown) => unknown): (value: unknown) => unknown {
    return (value) => {
      if (this.#failures >= MAX_FAILURES) throw ENDED;
      try {
        return serialize(value);
      } catch (error) {
        this.#failures += 1;
        throw error;
      }
    };
  }

  #object(type: GraphQLObjectType, root: boolean): GraphQLObjectType {
    return new GraphQLObjectType({
      name: type.name,
      interfaces: () => type.getInterfaces().map((item) => this.#copyOf(item)),
      fields: () => this.#fields(type, root),
      isTypeOf: isObject,
    });
  }

  #interface(type: GraphQLInterfaceType): GraphQLInterfaceType {
    return new GraphQLInterfaceType({
      name: type.name,
      interfaces: () => type.getInterfaces().map((item) => this.#copyOf(item)),
      fields: () => this.#fields(type, false),
      resolveType: typeResolver(type),
    });
  }

  #union(type: GraphQLUnionType): GraphQLUnionType {
    return new GraphQLUnionType({
      name: type.name,
      types: () => type.getTypes().map((item) => this.#copyOf(item)),
      resolveType: typeResolver(type),
    });
  }

  #fields(
    type: GraphQLObjectType | GraphQLInterfaceType,
    root: boolean,
  ): GraphQLFieldConfigMap<unknown, CompiledRun> {
    const fields: GraphQLFieldConfigMap<unknown, CompiledRun> = Object.create(null);
    for (const field of Object.values(type.getFields())) {
      const resolve = resolverOf(field, root);
      fields[field.name] = { type: this.#outputType(field.type), ...(resolve && { resolve }) };
    }
    return fields;
  }

  #outputType(type: GraphQLOutputType): GraphQLOutputType {
    if (isNonNullType(type)) return new GraphQLNonNull(this.#outputType(type.ofType));
    if (isListType(type)) return new GraphQLList(this.#outputType(type.ofType));
    return isLeafType(type) ? type : this.#copyOf(type);
  }

  #copyOf<T extends GraphQLNamedType | null | undefined>(type: T): T {
    if (type == null) return type;
    const copy = this.#copies.get(type);
    if (copy === undefined) throw new TypeError(`expected a type of the schema, got ${type.name}`);
    return copy as unknown as T;
  }
}

/** The resolver; undefined if compiled code may read the property directly, as no unguarded promise can pass there. */
function resolverOf(field: GraphQLField<unknown, unknown>, root: boolean): Resolve | undefined {
  const lists = listsOf(field.type);
  const resolve = field.resolve ?? (root || lists > 0 ? defaultFieldResolver : undefined);
  if (resolve === undefined) return undefined;
  const hasArguments = field.args.length > 0 && resolve !== eventItself;
  const resolved: Resolve = (source, _, run, info) => {
    const [node] = info.fieldNodes;
    const args = hasArguments && node !== undefined ? getArgumentValues(field, node, run.variables) : {};
    if (run.failures >= MAX_FAILURES) throw ENDED;
    try {
      return guard(resolve(source, args, run.context, complete(info, run)), lists);
    } catch (error) {
      // A refusal has a count of its own.
      if (!(error instanceof AccessError)) run.failures += 1;
      throw error;
    }
  };
  return isGuarded(resolve) ? notingRefusals(resolved, isNullableType(field.type)) : resolved;
}

/**
 * A refusal is not a fault, and may come with each event. Compiled code goes on with null, as graphql-js does. If the field
 * can't be null, graphql-js executes the operation again and decides what becomes null.
 */
function notingRefusals(resolve: Resolve, nullable: boolean): Resolve {
  return (source, args, run, info) => {
    const refusals = run.refusals ?? [];
    try {
      if (refusals.length >= MAX_ERRORS) throw ENDED;
      return resolve(source, args, run, info);
    } catch (error) {
      if (error !== ENDED && !(error instanceof AccessError)) throw error;
      // ENDED has a path, and stays as it is.
      refusals.push(locatedError(error, info.fieldNodes, responsePathAsArray(info.path)));
      run.refusals = refusals;
      if (nullable) return null;
      throw error;
    }
  };
}

/**
 * Completes, in place, the `info` of a resolver: graphql-jit makes a new one for each call. In place of the variables it
 * has the typenames of the path (see Compiler).
 */
function complete(info: GraphQLResolveInfo, { variables }: CompiledRun): GraphQLResolveInfo {
  const typenames = info.variableValues as unknown as readonly string[];
  let depth = 0;
  for (let level: Path | undefined = info.path; level !== undefined; level = level.prev) {
    (level as Mutable<Path>).typename = typeof level.key === 'string' ? typenames[depth++] : undefined;
  }
  (info as Mutable<GraphQLResolveInfo>).variableValues = variables;
  return info;
}

/** `info` of the field itself, without the list indexes of the value whose type is asked for. */
function completeOfField(info: GraphQLResolveInfo, run: CompiledRun): GraphQLResolveInfo {
  let { path } = info;
  while (typeof path.key === 'number' && path.prev !== undefined) path = path.prev;
  (info as Mutable<GraphQLResolveInfo>).path = path;
  return complete(info, run);
}

/** Names the concrete type; undefined is an error: graphql-js then executes the operation and reports it. */
function typeResolver(type: GraphQLAbstractType): NonNullable<GraphQLAbstractType['resolveType']> {
  const resolveType = type.resolveType ?? defaultTypeResolver;
  return (value: unknown, run: CompiledRun, info) => {
    try {
      const name = resolveType(value, run.context, completeOfField(info, run), type);
      if (typeof name === 'string') return name;
      // A promise of a type name: graphql-js calls resolveType again and awaits that; this promise's rejection is
      // ignored.
      if (isPromise(name)) Promise.resolve(name).catch(() => undefined);
      return undefined;
    } catch {
      return undefined;
    }
  };
}

/** graphql-jit accepts null from a serializer, and passes promises and methods to it: both are errors here. */
function serializer(type: { name: string; serialize(value: unknown): unknown }): (value: unknown) => unknown {
  return (value) => {
    if (typeof value === 'function' || isPromise(value)) throw new TypeError(`${type.name}: no value`);
    const serialized = type.serialize(value);
    if (serialized == null) throw new TypeError(`${type.name}: serialized to nothing`);
    return serialized;
  };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && !isPromise(value);
}

/** How many lists a type is wrapped in: 2 for `[[Int!]]!`. */
export function listsOf(type: GraphQLOutputType): number {
  if (isNonNullType(type)) return listsOf(type.ofType);
  return isListType(type) ? 1 + listsOf(type.ofType) : 0;
}
