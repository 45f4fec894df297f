import { isScalarType, Kind, type GraphQLNamedType, type GraphQLScalarType } from 'graphql';
import { decimalOf } from '../../formats/decimals.ts';
import type { ScalarCode } from '../api/resolvers.ts';
import { hasDirective } from '../entities/entities.ts';

/** Scalars that are so without the directive. */
const NAMES: ReadonlySet<string> = new Set(['Long', 'BigInt', 'Decimal']);

/** Whether values of the type are numbers whose digits all count: `@digits`. */
export function holdsDigits(type: GraphQLNamedType | undefined): type is GraphQLScalarType {
  return isScalarType(type) && (NAMES.has(type.name) || hasDirective(type, 'digits'));
}

/** The code of such a scalar, if the graph has none: results and variables are texts of numbers. */
export const DIGITS_CODE: ScalarCode = {
  serialize: digits,
  parseValue: digits,
  parseLiteral: (node) => {
    const isValue = node.kind === Kind.INT || node.kind === Kind.FLOAT || node.kind === Kind.STRING;
    return digits(isValue ? node.value : undefined);
  },
};

/** @throws TypeError that does not quote the value */
function digits(value: unknown): string {
  if (typeof value === 'bigint' || decimalOf(value) !== undefined) return String(value);
  throw new TypeError(
    `expected a number, or the text of one, got ${typeof value === 'string' ? 'another text' : typeof value}`,
  );
}
