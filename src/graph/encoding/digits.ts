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
  parseValue: (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new TypeError(
        'expected a number below 2^53, or a text, which keeps all digits, got a larger number',
      );
    }
    return plain(digits(value));
  },
  parseLiteral: (node) => {
    const isValue = node.kind === Kind.INT || node.kind === Kind.FLOAT || node.kind === Kind.STRING;
    return plain(digits(isValue ? node.value : undefined));
  },
};

/** @throws TypeError that does not quote the value */
function digits(value: unknown): string {
  if (typeof value === 'bigint' || decimalOf(value) !== undefined) return String(value);
  const came = typeof value === 'string' ? 'another text' : typeof value;
  throw new TypeError(`expected a number, or the text of one, got ${came}`);
}

/** Without a plus, and without zeros before it: events are routed by the texts of integers. */
function plain(text: string): string {
  const plainer = text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
  return plainer === '-0' ? '0' : plainer;
}
