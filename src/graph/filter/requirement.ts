import type { Arguments, Requirement } from '../graph.ts';
import { comparesIds, valueOf, type FilterTypes } from './operands.ts';
import { formsOf } from './operators.ts';
import { usesArguments, viewerPathsOf, type Comparison, type Condition, type Operator } from './syntax.ts';

/** The operator that tells most groups apart comes first. */
const REQUIRED: readonly Operator[] = ['eq', 'in', 'gt', 'gte', 'lt', 'lte'];

/** An index has an entry for each operand: a client that sends thousands of operands must not fill the memory. */
const MOST_OPERANDS = 16;

/** An index compares texts: a client's thousands of texts that differ only at their ends must not hold up a turn. */
const MOST_CHARACTERS = 256;

/** @returns a function that gives the comparison that must hold; undefined if no single comparison decides */
export function requirementOf(
  condition: Condition,
  types: FilterTypes,
): (args: Arguments) => Requirement | undefined {
  const candidates = allOf(condition)
    .filter(({ operator, operand }) => REQUIRED.includes(operator) && viewerPathsOf(operand).length === 0)
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  return (args) => {
    for (const comparison of candidates) {
      const required = requirement(comparison, args, types);
      if (required !== undefined) return required;
    }
    return undefined;
  };
}

function rankOf({ operator, operand }: Comparison): number {
  return REQUIRED.indexOf(operator) + (usesArguments(operand) ? 0 : REQUIRED.length);
}

/** Comparisons that must all hold. */
function allOf(condition: Condition): Comparison[] {
  if (condition.kind === 'comparison') return [condition];
  return condition.kind === 'and' ? condition.conditions.flatMap(allOf) : [];
}

function requirement(comparison: Comparison, args: Arguments, types: FilterTypes): Requirement | undefined {
  const { path, operator, operand } = comparison;
  const names = path.map(({ value }) => value);
  const value = valueOf(operand, args, types.field(names), types);
  if (value === undefined) return undefined;
  if (operator === 'eq' || operator === 'in') {
    const values = operator === 'in' && Array.isArray(value) ? value : [value];
    const operands = [...formsOf(values, comparesIds(comparison, types))];
    return operands.length > MOST_OPERANDS ? undefined : { path: names, operator: 'in', operands };
  }
  const isOrderable =
    typeof value === 'string'
      ? value.length <= MOST_CHARACTERS
      : typeof value === 'number' && !Number.isNaN(value);
  return isOrderable ? { path: names, operator: operator as 'gt', operands: [value] } : undefined;
}
