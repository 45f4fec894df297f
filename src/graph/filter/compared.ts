import type { Compared } from '../../events/compared.ts';
import type { Event } from '../../events/event.ts';
import { jsonAt, type Json } from '../../lazy/reads.ts';
import { shortened } from '../../support/shortened.ts';
import type { Comparison, Condition, Operand } from './syntax.ts';
import { NO, YES, type Ternary } from './ternary.ts';

/** The values and outcomes of one subscription's comparisons. */
interface Comparing {
  /** The value of the operand; undefined if there is none. */
  valueOf(comparison: Comparison): unknown;
  /** Undefined: the comparison is left out, since its argument is absent or null. */
  outcomeOf(comparison: Comparison): Ternary | undefined;
}

/** The comparisons of a filter for an event and a viewer, for people. */
export function comparedIn(
  condition: Condition,
  event: Event,
  comparing: Comparing,
  isNegated = false,
): Compared[] {
  if (condition.kind === 'not') return comparedIn(condition.condition, event, comparing, !isNegated);
  if (condition.kind !== 'comparison') {
    return condition.conditions.flatMap((inner) => comparedIn(inner, event, comparing, isNegated));
  }
  const path = condition.path.map(({ value }) => value);
  const outcome = comparing.outcomeOf(condition);
  return [
    {
      path: path.join('.'),
      operator: isNegated ? `not ${condition.operator}` : condition.operator,
      operand: nameOf(condition.operand),
      with: shown(comparing.valueOf(condition)),
      got: shown(jsonAt(event as Json, path)),
      outcome: outcome === undefined ? 'left out' : outcomeText(outcome, isNegated),
    },
  ];
}

function outcomeText(outcome: Ternary, isNegated: boolean): Compared['outcome'] {
  if (outcome === (isNegated ? NO : YES)) return 'holds';
  return outcome === YES || outcome === NO ? 'fails' : 'unknown';
}

/** Returns the operand's name in the schema; null for a literal or a list, which has none. */
function nameOf(operand: Operand): string | null {
  if (operand.kind === 'argument') return `$${operand.name}`;
  return operand.kind === 'viewer' ? ['$viewer', ...operand.path].join('.') : null;
}

const MAX_CHARACTERS = 200;

/** A value that was compared, as JSON of at most 200 characters. */
export function shown(value: unknown): string {
  return value === undefined ? 'nothing' : shortened(JSON.stringify(value), MAX_CHARACTERS);
}
