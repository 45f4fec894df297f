import {
  getNamedType,
  GraphQLError,
  GraphQLID,
  GraphQLString,
  isObjectType,
  Kind,
  parse,
  type GraphQLNamedType,
  type SelectionSetNode,
} from 'graphql';
import { isRecord } from '../../support/kind-of.ts';

/** A field of a key, as Apollo Federation's field sets name it; with fields of its own if it is an object. */
export interface KeyField {
  readonly name: string;
  /** Undefined: its value is a scalar or an enum. */
  readonly fields: FieldSet | undefined;
}

export type FieldSet = readonly KeyField[];

/**
 * Reads a field set: `upc`, `sku brand`, `id organization { id }`.
 *
 * @throws GraphQLError if it is no selection of plain fields
 */
export function readFieldSet(text: string): FieldSet {
  const [definition, another] = parse(`{ ${text} }`).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION || another !== undefined) throw unusable(text);
  return fieldsOf(definition.selectionSet, text);
}

function fieldsOf({ selections }: SelectionSetNode, text: string): FieldSet {
  return selections.map((selection): KeyField => {
    const isPlain =
      selection.kind === Kind.FIELD &&
      selection.alias === undefined &&
      (selection.arguments ?? []).length === 0 &&
      (selection.directives ?? []).length === 0;
    if (!isPlain) throw unusable(text);
    const { name, selectionSet } = selection;
    return { name: name.value, fields: selectionSet && fieldsOf(selectionSet, text) };
  });
}

function unusable(text: string): GraphQLError {
  return new GraphQLError(`expected names of fields, such as "id organization { id }", got "${text}"`);
}

/** The paths to its scalars, in the order in which they are written. */
export function leavesOf(fields: FieldSet): string[][] {
  return fields.flatMap(({ name, fields: below }) =>
    below === undefined ? [[name]] : leavesOf(below).map((path) => [name, ...path]),
  );
}

/** Puts a value where a path leads, through objects that are made on the way. */
export function putAt(object: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let holder = object;
  for (const name of path.slice(0, -1)) holder = (holder[name] ??= {}) as Record<string, unknown>;
  holder[path.at(-1) ?? ''] ??= value;
}

/** As it stands in an SDL. */
export function printFieldSet(fields: FieldSet): string {
  return fields
    .map(({ name, fields: below }) => (below === undefined ? name : `${name} { ${printFieldSet(below)} }`))
    .join(' ');
}

/**
 * Picks the fields of a key from an object. Numbers become text where the schema says so: producers write them either way.
 *
 * @param type of the object
 * @param nameIn the name under which the object has a field of the set
 * @returns undefined if one of them is absent, null, or no scalar
 */
export function pickFields(
  fields: FieldSet,
  source: unknown,
  type: GraphQLNamedType | undefined,
  nameIn: (name: string) => string = (name) => name,
): Record<string, unknown> | undefined {
  if (!isRecord(source)) return undefined;
  const picked: Record<string, unknown> = {};
  for (const { name, fields: below } of fields) {
    const value = source[nameIn(name)];
    const field = isObjectType(type) ? type.getFields()[name] : undefined;
    const held = field && getNamedType(field.type);
    const taken = below === undefined ? scalarOf(value, held) : pickFields(below, value, held);
    if (taken === undefined || taken === null) return undefined;
    picked[name] = taken;
  }
  return picked;
}

function scalarOf(value: unknown, type: GraphQLNamedType | undefined): unknown {
  if (typeof value === 'object') return undefined;
  return typeof value === 'number' && (type === GraphQLID || type === GraphQLString) ? String(value) : value;
}
