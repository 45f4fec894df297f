import { canonicalDecimal, compareDecimals, decimalOf } from '../../formats/decimals.ts';
import type { Operator } from './syntax.ts';
import type { JsonValue } from '../../events/event.ts';
import { NO, UNKNOWN, YES, type Ternary } from './ternary.ts';

/** How values are compared: as JSON has them, as GraphQL IDs, or as numbers that may be text. */
export type ComparedAs = 'value' | 'id' | 'number';

/** Compares one value of an event with a fixed operand. */
export type Comparator = (value: JsonValue) => Ternary;

/**
 * @param operand as events contain it; a list for `in`
 * @param as `id`: a number equals its text. `number`: texts of numbers are numbers of any size
 */
export function comparator(operator: Operator, operand: unknown, as: ComparedAs): Comparator {
  if (as === 'number') return numeric(operator, operand);
  const asId = as === 'id';
  switch (operator) {
    case 'eq':
      return oneOf([operand], asId, YES);
    case 'ne':
      return oneOf([operand], asId, NO);
    case 'in':
      return oneOf(Array.isArray(operand) ? operand : [operand], asId, YES);
    case 'contains':
      return contains(operand, asId);
    default:
      return ordered(operator, operand);
  }
}

/** The same for equal numbers. */
function form(value: unknown): unknown {
  return canonicalDecimal(value) ?? value;
}

/** Compares numbers and their texts by size. What is no number equals only itself. */
function numeric(operator: Operator, operand: unknown): Comparator {
  if (operator === 'eq' || operator === 'ne' || operator === 'in' || operator === 'contains') {
    const operands = Array.isArray(operand) ? operand.map(form) : form(operand);
    // A number is no part of another one.
    const isOfLists = operator === 'contains';
    const compare = comparator(operator, operands, 'value');
    return (value) => {
      if (Array.isArray(value)) return compare(value.map(form) as JsonValue);
      return isOfLists ? UNKNOWN : compare(form(value) as JsonValue);
    };
  }
  const bound = decimalOf(operand);
  if (bound === undefined) return () => UNKNOWN;
  const holds = ORDER[operator];
  return (value) => {
    const decimal = decimalOf(value);
    if (decimal === undefined) return UNKNOWN;
    return holds(compareDecimals(decimal, bound), 0) ? YES : NO;
  };
}

/** Objects and lists can't be compared: UNKNOWN. */
function oneOf(operands: readonly unknown[], asId: boolean, found: typeof YES | typeof NO): Comparator {
  const isWanted = wantedIn(operands, asId);
  const missing = found === YES ? NO : YES;
  return (value) => {
    if (typeof value === 'object' && value !== null) return UNKNOWN;
    return isWanted(value) ? found : missing;
  };
}

/** YES for a list that contains the operand, and for a string of which the operand is a part. */
function contains(operand: unknown, asId: boolean): Comparator {
  const isWanted = wantedIn([operand], asId);
  return (value) => {
    if (Array.isArray(value)) return value.some(isWanted) ? YES : NO;
    if (typeof value !== 'string' || typeof operand !== 'string') return UNKNOWN;
    return value.includes(operand) ? YES : NO;
  };
}

/** Orders numbers by size and text by code units, which suits times in ISO 8601. Different types: UNKNOWN. */
function ordered(operator: keyof typeof ORDER, operand: unknown): Comparator {
  if (typeof operand !== 'number' && typeof operand !== 'string') return () => UNKNOWN;
  const holds = ORDER[operator];
  return (value) => {
    if (typeof value !== typeof operand) return UNKNOWN;
    return holds(value as string | number, operand) ? YES : NO;
  };
}

const ORDER = {
  gt: (a: string | number, b: string | number) => a > b,
  gte: (a: string | number, b: string | number) => a >= b,
  lt: (a: string | number, b: string | number) => a < b,
  lte: (a: string | number, b: string | number) => a <= b,
};

/** Whether a value is one of the operands. A single operand needs no set: thousands of filters may have one operand. */
function wantedIn(operands: readonly unknown[], asId: boolean): (value: JsonValue) => boolean {
  const [only] = operands;
  if (operands.length === 1 && !(asId && only !== null)) return (value) => value === only;
  if (operands.length === 1) {
    const id = String(only);
    return (value) => value === id || (typeof value === 'number' && String(value) === id);
  }
  const forms = formsOf(operands, asId);
  return (value) => forms.has(value);
}

/** The operands; of IDs, both forms that they take in JSON, so that comparing an event's ID needs no conversion. */
export function formsOf(operands: readonly unknown[], asId: boolean): ReadonlySet<unknown> {
  if (!asId) return new Set(operands);
  return new Set(
    operands.flatMap((operand) => {
      if (operand === null) return [null];
      const text = String(operand);
      return String(Number(text)) === text ? [text, Number(text)] : [text];
    }),
  );
}
