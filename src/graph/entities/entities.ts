import type { ConstDirectiveNode, GraphQLField, GraphQLNamedType, GraphQLObjectType } from 'graphql';
import type { FieldSet } from './field-set.ts';

/** An object type with `@key`: other services know its objects by the same fields. */
export interface Entity {
  readonly type: GraphQLObjectType;
  /** At least one. */
  readonly keys: readonly FieldSet[];
  /** Undefined if the type has no `@entity`: its objects are not fetched. */
  readonly source: EntitySource | undefined;
  /** Names of its fields with `@fetched`. */
  readonly fetched: ReadonlySet<string>;
}

/** The back end that an entity's `@fetched` fields come from. */
export interface EntitySource {
  /** Name of the back end, which is a GraphQL server at its URL. */
  readonly backend: string;
  /** Undefined: the back end is a subgraph, and is asked for `_entities`. */
  readonly lookup: Lookup | undefined;
  /** How long what has been fetched is kept for later events; 0: it is not. */
  readonly ttlMs: number;
}

/** A query field that returns one entity by its key. */
export interface Lookup {
  /** The name of the query field. */
  readonly field: string;
  /** Text of the query field with its arguments, `product(upc: $upc)`; at odd indexes stand names of variables. */
  readonly parts: readonly string[];
  /** The key fields that stand in it as variables, with their types: `upc`, `ID!`. */
  readonly variables: ReadonlyMap<string, string>;
}

/** `@reference(fields:)`: where an event names an entity without holding an object of it. */
export interface Reference {
  /** Paths of the event's values, one for each scalar of the entity's first key, in the same order. */
  readonly paths: readonly (readonly string[])[];
}

/** All entities of a schema. */
export interface Entities {
  /** By name of the type. */
  readonly types: ReadonlyMap<string, Entity>;
  readonly references: ReadonlyMap<GraphQLField<unknown, unknown>, Reference>;
}

type Directed = GraphQLNamedType | GraphQLField<unknown, unknown>;

/** Whether a field's value comes from a back end or is made of the event's keys, so that no event holds it. */
export function isJoined(field: Directed): boolean {
  return hasDirective(field, 'fetched') || hasDirective(field, 'reference');
}

export function hasDirective(directed: Directed, name: string): boolean {
  return directivesOf(directed, name).length > 0;
}

/** The uses of a directive on a field, or on a type and its extensions. */
export function directivesOf(directed: Directed, name: string): ConstDirectiveNode[] {
  const extensions = 'extensionASTNodes' in directed ? directed.extensionASTNodes : [];
  return [directed.astNode, ...extensions]
    .flatMap((node) => node?.directives ?? [])
    .filter((directive) => directive.name.value === name);
}
