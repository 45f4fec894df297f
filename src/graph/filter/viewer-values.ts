import type { JsonValue } from '../../events/event.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Comparator } from './operators.ts';
import type { Operator } from './syntax.ts';
import { NO, UNKNOWN } from './ternary.ts';

/**
 * A value of a viewer that a filter may compare; undefined if it names nothing, as `@auth` says too: null, empty text, a
 * number too large for JavaScript, of which several would be equal, or a list with one of them. Else a viewer whose
 * token has an empty claim would get the events of all others for whom the field is empty.
 */
export function namingValue(value: Json | undefined): Json | undefined {
  const names = Array.isArray(value) ? value.every(isNaming) : isNaming(value);
  return names ? value : undefined;
}

function isNaming(value: Json | undefined): boolean {
  return value !== null && value !== '' && (typeof value !== 'number' || isExact(value));
}

/** False for numbers to which JavaScript rounds others. */
function isExact(value: JsonValue): boolean {
  return (
    typeof value !== 'number' || Number.isSafeInteger(value) || (value % 1 !== 0 && Number.isFinite(value))
  );
}

/**
 * Takes numbers of an event that JavaScript may have rounded as unknown: 9007199254740993 would equal the id
 * "9007199254740992" of another viewer. (Their order is not changed by rounding, as a viewer's number is exact.)
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
