import { comparedIn } from './compared.ts';
import { comparedAs, literal, valueOf, type FilterTypes } from './operands.ts';
import { comparator, type ComparedAs, type Comparator, formsOf } from './operators.ts';
import { usesArguments, viewerPathsOf, type Comparison, type Condition, type Operator } from './syntax.ts';
import { ReadSet, type Json } from '../../lazy/reads.ts';
import type { Arguments, Binding, EventFilter, FilterCost, Requirement } from '../graph.ts';
import type { Event } from '../../events/event.ts';
import { NO, UNKNOWN, YES, type Ternary } from './ternary.ts';
import { comparedExactly } from './viewer-values.ts';

/** The operator that tells most groups apart comes first. */
const REQUIRED: readonly Operator[] = ['eq', 'in', 'gt', 'gte', 'lt', 'lte'];

/** An index has an entry for each operand: a client that sends thousands of operands must not fill the memory. */
const MOST_OPERANDS = 16;

/** An index compares texts: a client's thousands of texts that differ only at their ends must not hold up a turn. */
const MOST_CHARACTERS = 256;

/** @returns a function that gives the comparison that must hold; undefined if no single comparison decides */
function requirementOf(
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
  const as = comparedAs(comparison, types);
  // A number has several texts, and an index knows one.
  if (value === undefined || as === 'number') return undefined;
  if (operator === 'eq' || operator === 'in') {
    const values = operator === 'in' && Array.isArray(value) ? value : [value];
    const operands = [...formsOf(values, as === 'id')];
    return operands.length > MOST_OPERANDS ? undefined : { path: names, operator: 'in', operands };
  }
  const isOrderable =
    typeof value === 'string'
      ? value.length <= MOST_CHARACTERS
      : typeof value === 'number' && !Number.isNaN(value);
  return isOrderable ? { path: names, operator: operator as 'gt', operands: [value] } : undefined;
}

type Test = (event: Event, viewer: Json) => Ternary;

/**
 * Inserts the arguments of one subscription; undefined if no condition remains, since each lacks an argument.
 */
type Bind = (args: Arguments) => Test | undefined;

/**
 * Compiles a condition whose syntax and types have been checked. Work that does not depend on arguments is done here,
 * once; other work once per subscription. Testing an event then allocates memory only to compare with viewer values.
 */
export function compileFilter(condition: Condition, types: FilterTypes): NonNullable<Binding['filter']> {
  const bind = compile(condition, types);
  const reads = new ReadSet();
  for (const path of viewerPathsOf(condition)) reads.add('whole', path);
  const cost = costOf(condition);
  const required = requirementOf(condition, types);
  return (args): EventFilter | undefined => {
    const test = bind(args);
    return (
      test && {
        reads,
        cost,
        passes: (event, viewer) => test(event, viewer) === YES,
        get requires() {
          return required(args);
        },
        compared: (event, viewer) => ({
          directive: '@filter',
          compared: comparedIn(condition, event, {
            valueOf: ({ path, operand }) => {
              const type = types.field(path.map(({ value }) => value));
              return valueOf(operand, args, type, types, viewer);
            },
            outcomeOf: (comparison) => compile(comparison, types)(args)?.(event, viewer),
          }),
        }),
      }
    );
  };
}

/** Cost of a comparison with a viewer value, which is looked up and prepared for each event. */
const COMPARISONS_WITH_VIEWER = 4;

function costOf(condition: Condition): FilterCost {
  if (condition.kind === 'not') return costOf(condition.condition);
  if (condition.kind !== 'comparison') {
    const costs = condition.conditions.map(costOf);
    return { comparisons: sumOf(costs, 'comparisons'), scans: sumOf(costs, 'scans') };
  }
  const { operator, operand } = condition;
  const comparisons = viewerPathsOf(operand).length > 0 ? COMPARISONS_WITH_VIEWER : 1;
  return { comparisons, scans: operator === 'contains' ? 1 : 0 };
}

function sumOf(costs: readonly FilterCost[], part: keyof FilterCost): number {
  return costs.reduce((sum, cost) => sum + cost[part], 0);
}

function compile(condition: Condition, types: FilterTypes): Bind {
  if (condition.kind === 'comparison') return compileComparison(condition, types);
  if (condition.kind === 'not') {
    const bind = compile(condition.condition, types);
    return (args) => {
      const test = bind(args);
      return test && ((event, viewer) => (YES - test(event, viewer)) as Ternary);
    };
  }
  const binds = condition.conditions.map((inner) => compile(inner, types));
  const join = condition.kind === 'and' ? least : greatest;
  return (args) => {
    const tests = binds.flatMap((bind) => bind(args) ?? []);
    return tests.length < 2 ? tests[0] : join(tests);
  };
}

function least(tests: readonly Test[]): Test {
  return (event, viewer) => {
    let result: Ternary = YES;
    for (let i = 0; i < tests.length && result !== NO; i++) {
      result = Math.min(result, tests[i]?.(event, viewer) ?? UNKNOWN) as Ternary;
    }
    return result;
  };
}

function greatest(tests: readonly Test[]): Test {
  return (event, viewer) => {
    let result: Ternary = NO;
    for (let i = 0; i < tests.length && result !== YES; i++) {
      result = Math.max(result, tests[i]?.(event, viewer) ?? UNKNOWN) as Ternary;
    }
    return result;
  };
}

function compileComparison(comparison: Comparison, types: FilterTypes): Bind {
  const { path, operator, operand } = comparison;
  const names = path.map(({ value }) => value);
  const type = types.field(names);
  const as = comparedAs(comparison, types);
  const test = (value: unknown) => testAt(names, comparator(operator, value, as));
  if (viewerPathsOf(operand).length > 0) {
    const testFor = (args: Arguments): Test =>
      viewerTest(names, operator, as, (viewer) => valueOf(operand, args, type, types, viewer));
    if (usesArguments(operand)) return testFor;
    // All subscriptions share one test, so that a list prepared for a viewer serves all subscriptions of the viewer.
    const constant = testFor({});
    return () => constant;
  }
  if (!usesArguments(operand)) {
    const constant = test(literal(operand, type));
    return () => constant;
  }
  return (args) => {
    const value = valueOf(operand, args, type, types);
    return value === undefined ? undefined : test(value);
  };
}

/**
 * A comparison with a value of the viewer, which is looked up once per event and distinct viewer. The list of `in` is
 * looked up and prepared once per viewer, since it may be long.
 */
function viewerTest(
  path: readonly string[],
  operator: Operator,
  as: ComparedAs,
  operandFor: (viewer: Json) => unknown,
): Test {
  const testFor = (viewer: Json): Test => {
    const value = operandFor(viewer);
    // Viewers have no declared type. The operand must be one value, or a list of values for `in`; all else fails
    // closed. `in` takes one value as a list of one, since token issuers write a list of one as its value.
    const isFit = isOneValue(value) || (operator === 'in' && Array.isArray(value) && value.every(isOneValue));
    if (!isFit) return () => UNKNOWN;
    return testAt(path, comparedExactly(operator, comparator(operator, value, as)));
  };
  if (operator !== 'in') return (event, viewer) => testFor(viewer)(event, viewer);
  const prepared = new WeakMap<object, Test>();
  return (event, viewer) => {
    if (typeof viewer !== 'object' || viewer === null) return testFor(viewer)(event, viewer);
    const test = prepared.get(viewer) ?? testFor(viewer);
    prepared.set(viewer, test);
    return test(event, viewer);
  };
}

function isOneValue(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function testAt(path: readonly string[], compare: Comparator): Test {
  const [name = ''] = path;
  if (path.length === 1) {
    return (event) => (Object.hasOwn(event, name) ? compare(event[name] ?? null) : UNKNOWN);
  }
  return (event) => {
    let value: Event[string] | undefined = event;
    for (const step of path) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return UNKNOWN;
      if (!Object.hasOwn(value, step)) return UNKNOWN;
      value = value[step];
    }
    return value === undefined ? UNKNOWN : compare(value);
  };
}
