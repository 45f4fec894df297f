import {
  getNamedType,
  isEnumType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLInputType,
  type GraphQLNamedType,
} from 'graphql';
import { comparedIn } from './compared.ts';
import { comparator, type Comparator } from './operators.ts';
import {
  usesArguments,
  viewerPathsOf,
  type Comparison,
  type Condition,
  type Operand,
  type Operator,
} from './syntax.ts';
import { jsonAt, ReadSet, type Json } from '../../lazy/reads.ts';
import type { Arguments, Binding, EventFilter, FilterCost } from '../graph.ts';
import type { Event } from '../../events/event.ts';
import { NO, UNKNOWN, YES, type Ternary } from './ternary.ts';
import { comparedExactly, namingValue } from './viewer-values.ts';

/** The declared types of fields and arguments in a filter; undefined where the schema does not declare one. */
export interface FilterTypes {
  field(path: readonly string[]): GraphQLNamedType | undefined;
  argument(name: string): GraphQLInputType | undefined;
}

type Test = (event: Event, viewer: Json) => Ternary;

/**
 * Inserts the arguments of one subscription; undefined if no condition remains, as their arguments are absent or null.
 */
type Bind = (args: Arguments) => Test | undefined;

/**
 * Compiles a condition whose syntax and types have been checked. Work that does not depend on arguments is done here,
 * once; work that does, once per subscription. Testing an event then allocates no memory.
 */
export function compileFilter(condition: Condition, types: FilterTypes): NonNullable<Binding['filter']> {
  const bind = compile(condition, types);
  const reads = new ReadSet();
  for (const path of viewerPathsOf(condition)) reads.add('whole', path);
  const cost = costOf(condition);
  return (args): EventFilter | undefined => {
    const test = bind(args);
    return (
      test && {
        reads,
        cost,
        passes: (event, viewer) => test(event, viewer) === YES,
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

/** A value of a viewer is looked up, and made ready to be compared with, for each event. */
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

function compileComparison({ path, operator, operand }: Comparison, types: FilterTypes): Bind {
  const names = path.map(({ value }) => value);
  const type = types.field(names);
  const asId = [type, ...argumentsIn(operand).map((name) => namedType(types.argument(name)))].some(
    (named) => named?.name === 'ID',
  );
  const test = (value: unknown) => testAt(names, comparator(operator, value, asId));
  if (viewerPathsOf(operand).length > 0) {
    const testFor = (args: Arguments): Test =>
      viewerTest(names, operator, asId, (viewer) => valueOf(operand, args, type, types, viewer));
    if (usesArguments(operand)) return testFor;
    // One for all subscriptions, so that what it has prepared for a viewer is there for all of the viewer's.
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
 * A comparison with a value of the viewer, which is looked up once per event and distinct viewer. A list of values is
 * prepared once per viewer: it may be long.
 */
function viewerTest(
  path: readonly string[],
  operator: Operator,
  asId: boolean,
  operandFor: (viewer: Json) => unknown,
): Test {
  const testFor = (viewer: Json): Test => {
    const value = operandFor(viewer);
    // Viewers have no declared type. The operand must be one value, or a list of values for `in`; all else fails
    // closed.
    const isFit = operator === 'in' ? Array.isArray(value) && value.every(isOneValue) : isOneValue(value);
    if (!isFit) return () => UNKNOWN;
    return testAt(path, comparedExactly(operator, comparator(operator, value, asId)));
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

function argumentsIn(operand: Operand): string[] {
  if (operand.kind === 'argument') return [operand.name];
  return operand.kind === 'list' ? operand.items.flatMap(argumentsIn) : [];
}

function namedType(type: GraphQLInputType | undefined): GraphQLNamedType | undefined {
  return type && getNamedType(type);
}

/**
 * @returns the operand's value; undefined if an argument in it is absent or null, or the viewer has no such value, or one
 *   that names nothing
 */
function valueOf(
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
function literal(operand: Operand, type: GraphQLNamedType | undefined): unknown {
  if (operand.kind === 'list') return operand.items.map((item) => literal(item, type));
  if (operand.kind === 'argument' || operand.kind === 'viewer') return undefined;
  if (!isEnumType(type) || typeof operand.value !== 'string') return operand.value;
  return type.getValue(operand.value)?.value as unknown;
}

/**
 * A coerced argument as events contain it. The code of an enum or custom scalar may have converted what the client
 * sent, so it is serialized again, except where the event's field is of the same enum.
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
