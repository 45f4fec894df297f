import {
  defaultFieldResolver,
  defaultTypeResolver,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  print,
  responsePathAsArray,
  typeFromAST,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type GraphQLTypeResolver,
} from 'graphql';
import { jsonAt, type Json } from '../../lazy/reads.ts';
import { isRecord } from '../../support/kind-of.ts';
import type { GraphDefinition } from '../api/define-graph.ts';
import type { Guards } from '../auth/guards.ts';
import { needsObject } from '../auth/rule.ts';
import { bounded } from '../error-budget.ts';
import { isList } from '../event-type.ts';
import { resumed } from '../loader/attach-resolvers.ts';
import type { Entities, Entity, EntitySource, Reference } from './entities.ts';
import { executionLoadsOf } from './entity-loads.ts';
import type { VariableValue } from './entity-request.ts';
import { leavesOf, pickFields, putAt, type FieldSet } from './field-set.ts';
import { backendOf, keyOfKeyField, Later, plainSource, remoteKey, shownValue } from './remote-answer.ts';
import { RemoteFields, type FieldCode, type RemoteField } from './remote-field.ts';

type Resolver = GraphQLFieldResolver<unknown, unknown>;

/**
 * Gives resolvers to the fields that are joined: those with `@fetched` and `@reference`, and those below a fetched field,
 * whose objects may be parts of an answer. To be called once the graph's own resolvers are attached.
 */
export function attachEntities(
  schema: GraphQLSchema,
  entities: Entities,
  guards: Guards,
  backends: GraphDefinition['backends'] = {},
): void {
  const code = codeOf(schema, guards);
  const remote = new RemoteFields(entities, code);
  for (const [field, reference] of entities.references) {
    const entity = entities.types.get(getNamedType(field.type).name);
    if (entity !== undefined) field.resolve ??= referring(field, reference, entity);
  }
  const reached = new Set<GraphQLNamedType>();
  for (const { type, source, fetched } of entities.types.values()) {
    if (source === undefined) continue;
    const forwarded = forwardedPaths(backends[source.backend]?.forward ?? []);
    for (const name of fetched) {
      const field = type.getFields()[name];
      if (field === undefined || code.isLocal(type.name, name)) continue;
      field.resolve = resumed(fetching({ entities, remote, source, forwarded }));
      reach(schema, getNamedType(field.type), reached);
    }
  }
  for (const type of reached) {
    if (isAbstractType(type)) type.resolveType = ofAnswers(type.resolveType ?? defaultTypeResolver);
    if (!isObjectType(type)) continue;
    const { isTypeOf } = type;
    if (isTypeOf) {
      type.isTypeOf = (value, context, info) =>
        backendOf(value) !== undefined || isTypeOf(value, context, info);
    }
    const fetched = entities.types.get(type.name)?.fetched;
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve ?? defaultFieldResolver;
      if (code.isLocal(type.name, field.name)) field.resolve = ofPlainSource(resolve);
      else if (fetched?.has(field.name) !== true) field.resolve = bounded(answered(resolve));
    }
  }
}

/** To be called before other resolvers than the graph's own are attached. */
function codeOf(schema: GraphQLSchema, guards: Guards): FieldCode {
  const [local, reading] = [new Set<string>(), new Set<string>()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`;
      if (field.resolve !== undefined) local.add(coordinate);
      if (guards.rulesOf(type, field).some(needsObject)) reading.add(coordinate);
    }
  }
  const isLocal = (type: string, field: string): boolean => local.has(`${type}.${field}`);
  return {
    isLocal,
    readsObject: (type, field) => isLocal(type, field) || reading.has(`${type}.${field}`),
  };
}

/** Adds all types that a selection below a fetched field can reach. */
function reach(schema: GraphQLSchema, from: GraphQLNamedType, reached: Set<GraphQLNamedType>): void {
  const waiting = [from];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (reached.has(type) || isLeafType(type)) continue;
    reached.add(type);
    if (isAbstractType(type)) waiting.push(...schema.getPossibleTypes(type));
    if (!isObjectType(type)) continue;
    waiting.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  }
}

/** Reads a part of an answer under the client's key; objects of events have the resolver as it was. */
function answered(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const backend = backendOf(source);
    return backend === undefined
      ? resolve(source, args, context, info)
      : partOf(source as object, backend, info);
  };
}

/** Gives a resolver of the graph's own a part of an answer as it gets objects of events. */
function ofPlainSource(resolve: Resolver): Resolver {
  return (source, args, context, info) => resolve(plainSource(source, info.parentType), args, context, info);
}

/** A back end is always asked for the type's name. */
function ofAnswers(
  resolveType: GraphQLTypeResolver<unknown, unknown>,
): GraphQLTypeResolver<unknown, unknown> {
  return (value, context, info, type) => {
    if (backendOf(value) === undefined) return resolveType(value, context, info, type);
    const name = (value as Readonly<Record<string, unknown>>)['__typename'];
    return typeof name === 'string' ? name : undefined;
  };
}

/** @param source an object that a back end has answered */
function partOf(source: object, backend: string, info: GraphQLResolveInfo): unknown {
  const key = remoteKey(String(info.path.key));
  return shownValue((source as Readonly<Record<string, unknown>>)[key], backend, info);
}

interface Fetching {
  readonly entities: Entities;
  readonly remote: RemoteFields;
  readonly source: EntitySource;
  /** Paths of the viewer's values that the back end gets. */
  readonly forwarded: readonly (readonly string[])[];
}

function fetching(parts: Fetching): Resolver {
  const { backend } = parts.source;
  return (source, _args, context, info) => {
    // The object has come with all that was selected of it.
    if (backendOf(source) === backend) return partOf(source as object, backend, info);
    try {
      const loaded = load(parts, source, context, info);
      return loaded instanceof Promise
        ? loaded.then((value: unknown) => shownValue(value, backend, info))
        : shownValue(loaded, backend, info);
    } catch (error) {
      return new Later(error);
    }
  };
}

/** @returns the value, or a promise of it */
function load(
  { entities, remote, source: from, forwarded }: Fetching,
  source: unknown,
  context: unknown,
  info: GraphQLResolveInfo,
): unknown {
  const entity = entities.types.get(info.parentType.name);
  if (entity === undefined) throw new TypeError(`expected an entity, got ${info.parentType.name}`);
  const { key, values } = keyOf(entity, from, source);
  const field = remote.of(from.backend, info, info.variableValues);
  const loads = executionLoadsOf(context);
  // That part of the viewer counts as read before the execution waits, so that viewers who differ in it are executed
  // beside each other.
  for (const path of forwarded) jsonAt(loads.viewer, path);
  const variables = variablesOf(field, info);
  const isStrict = isNonNullType(info.returnType);
  const place = [loads.id, ...responsePathAsArray(info.path.prev)].join('.');
  const used = forwarded.length > 0 ? loads.own : loads.shared;
  // The object of a subscription field is the event itself; that of a query is asked for anew, too.
  const isNew = info.path.prev?.prev === undefined;
  return used.load({ entity, source: from, key, values, field, variables, isStrict }, place, isNew);
}

/** The first key of which the object has all fields; a lookup is by the first key of all. */
function keyOf(
  { type, keys }: Entity,
  { lookup }: EntitySource,
  source: unknown,
): { key: FieldSet; values: Record<string, unknown> } {
  const isAnswer = backendOf(source) !== undefined;
  const usable = lookup === undefined ? keys : keys.slice(0, 1);
  for (const key of usable) {
    const values = isAnswer
      ? pickFields(key, source, type, (name) => keyOfKeyField(type.name, name))
      : pickFields(key, source, type);
    if (values !== undefined) return { key, values };
  }
  const names = usable.map((key) =>
    leavesOf(key)
      .map((path) => path.join('.'))
      .join(' and '),
  );
  throw new TypeError(`expected ${type.name} with ${names.join(', or ')}, by which it is fetched; got none`);
}

function forwardedPaths(forward: readonly string[] | Readonly<Record<string, string>>): string[][] {
  return Object.values(forward).map((path: string) => path.split('.'));
}

/** Makes the object, or the list of objects, that an event's values name. */
function referring(
  field: GraphQLField<unknown, unknown>,
  { paths }: Reference,
  { keys: [key = []] }: Entity,
): Resolver {
  const leaves = leavesOf(key);
  const inList = isList(field.type);
  return (source) => {
    const values = paths.map((path) => jsonAt(source as Json, path));
    if (values.some((value) => value === undefined || value === null)) return null;
    if (!inList) return objectOf(leaves, values);
    const [first] = values;
    if (!Array.isArray(first)) throw new TypeError(`expected a list at ${paths[0]?.join('.')}`);
    return first.map((value: Json) => (value === null ? null : objectOf(leaves, [value])));
  };
}

function objectOf(leaves: readonly (readonly string[])[], values: readonly unknown[]): object {
  const object: Record<string, unknown> = {};
  for (const [index, path] of leaves.entries()) putAt(object, path, values[index]);
  return object;
}

/** The values of the client's variables that the field uses, as they are sent. */
function variablesOf(
  { parts }: RemoteField,
  { operation, schema, variableValues }: GraphQLResolveInfo,
): VariableValue[] {
  return parts
    .filter((_, index) => index % 2 === 1)
    .map((name) => {
      const node = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
      if (node === undefined) throw new TypeError(`expected the variable ${name}, got none`);
      const type = typeFromAST(schema, node.type) as GraphQLInputType;
      // A variable that is left out takes its default, or the default of the argument that it stands for.
      const value = variableValues[name];
      return { type: print(node.type), value: value === undefined ? undefined : wireValue(value, type) };
    });
}

/** Undoes the coercion of a variable: enums and scalars may have values of the graph's own. */
function wireValue(value: unknown, type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return wireValue(value, type.ofType);
  if (value === null || value === undefined) return null;
  if (isListType(type)) return (value as readonly unknown[]).map((item) => wireValue(item, type.ofType));
  if (isScalarType(type) || isEnumType(type)) return type.serialize(value);
  if (!isInputObjectType(type) || !isRecord(value)) return value;
  const fields = type.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, within]) => {
      const field = fields[name];
      return [name, field === undefined ? within : wireValue(within, field.type)];
    }),
  );
}
