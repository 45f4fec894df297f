import type { JsonValue } from '../../events/event.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Comparator } from './operators.ts';
import type { Operator } from './syntax.ts';
import { NO, UNKNOWN } from './ternary.ts';

/**
 * A viewer value that a filter may compare; undefined if the value names nothing: null, empty text, a number that
 * JavaScript may round to another one (`@auth` accepts none of these), or a list with one of these. Otherwise a viewer
 * with an empty claim would get all events whose field is empty.
 */
export function namingValue(value: Json | undefined): Json | undefined {
  const names = Array.isArray(value) ? value.every(isNaming) : isNaming(value);
  return names ? value : undefined;
}

function isNaming(value: Json | undefined): boolean {
  return value !== null && value !== '' && (typeof value !== 'number' || isExact(value));
}

/** False for numbers that JavaScript may have rounded. */
function isExact(value: JsonValue): boolean {
  return (
    typeof value !== 'number' || Number.isSafeInteger(value) || (value % 1 !== 0 && Number.isFinite(value))
  );
}

/**
 * Makes numbers of an event that JavaScript may have rounded UNKNOWN: otherwise 9007199254740993 would equal the id
 * "9007199254740992" of another viewer. (Rounding does not change their order with a viewer's number, which is exact.)
 */
export function comparedExactly(operator: Operator, compare: Comparator): Comparator {
  if (!IDENTITY.has(operator)) return compare;
  return (value) => {
    if (!Array.isArray(value)) return isExact(value) ? compare(value) : UNKNOWN;
    if (value.every(isExact)) return compare(value);
    const result = compare(value.filter(isExact));
    return result === NO ? UNKNOWN : result;
  };
}

const IDENTITY: ReadonlySet<Operator> = new Set(['eq', 'ne', 'in', 'contains']);
