import {
  getNamedType,
  isEnumType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLInputType,
  type GraphQLNamedType,
} from 'graphql';
import { jsonAt, type Json } from '../../lazy/reads.ts';
import { holdsDigits } from '../encoding/digits.ts';
import type { Arguments } from '../graph.ts';
import type { ComparedAs } from './operators.ts';
import type { Comparison, Operand } from './syntax.ts';
import { namingValue } from './viewer-values.ts';

/** The declared types of fields and arguments in a filter; undefined where the schema does not declare one. */
export interface FilterTypes {
  field(path: readonly string[]): GraphQLNamedType | undefined;
  argument(name: string): GraphQLInputType | undefined;
}

export function comparedAs({ path, operand }: Comparison, types: FilterTypes): ComparedAs {
  const field = types.field(path.map(({ value }) => value));
  const all = [field, ...argumentsIn(operand).map((name) => namedType(types.argument(name)))];
  if (all.some(holdsDigits)) return 'number';
  return all.some((type) => type?.name === 'ID') ? 'id' : 'value';
}

function argumentsIn(operand: Operand): string[] {
  if (operand.kind === 'argument') return [operand.name];
  return operand.kind === 'list' ? operand.items.flatMap(argumentsIn) : [];
}

function namedType(type: GraphQLInputType | undefined): GraphQLNamedType | undefined {
  return type && getNamedType(type);
}

/**
 * @returns the operand's value; undefined if an argument in it is absent or null, or the viewer's value is absent or
 *   names nothing
 */
export function valueOf(
  operand: Operand,
  args: Arguments,
  type: GraphQLNamedType | undefined,
  types: FilterTypes,
  viewer?: Json,
): unknown {
  if (operand.kind === 'viewer') {
    return viewer === undefined ? undefined : namingValue(jsonAt(viewer, operand.path));
  }
  if (operand.kind === 'literal') return literal(operand, type);
  if (operand.kind === 'argument') {
    const value = args[operand.name] ?? undefined;
    return value === undefined ? undefined : written(value, namedType(types.argument(operand.name)), type);
  }
  const values = operand.items.map((item) => valueOf(item, args, type, types, viewer));
  return values.includes(undefined) ? undefined : values;
}

/** A literal of the schema as events contain it: an enum value's name is replaced by the value in the graph's code. */
export function literal(operand: Operand, type: GraphQLNamedType | undefined): unknown {
  if (operand.kind === 'list') return operand.items.map((item) => literal(item, type));
  if (operand.kind === 'argument' || operand.kind === 'viewer') return undefined;
  if (!isEnumType(type) || typeof operand.value !== 'string') return operand.value;
  return type.getValue(operand.value)?.value as unknown;
}

/**
 * A coerced argument as events contain it. The code of an enum or custom scalar may have converted what the client
 * sent, so the argument is serialized again, except where the event's field is of the same enum.
 */
export function written(
  value: unknown,
  from: GraphQLNamedType | undefined,
  to: GraphQLNamedType | undefined,
): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => written(item, from, to));
  if (isEnumType(from)) return from === to ? value : from.serialize(value);
  return isScalarType(from) && !isSpecifiedScalarType(from) ? from.serialize(value) : value;
}
