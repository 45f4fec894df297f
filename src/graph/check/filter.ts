import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLInputType,
  type GraphQLNamedOutputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { nearest } from '../../support/nearest.ts';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { fieldNames, followPath, isList } from '../event-type.ts';
import {
  isOperator,
  OPERATORS,
  shown,
  type Comparison,
  type Condition,
  type Operand,
  type Operator,
} from '../filter/syntax.ts';

/** Operators by the names that they have elsewhere. */
const OTHER_NAMES: ReadonlyMap<string, Operator> = new Map([
  ['ge', 'gte'],
  ['le', 'lte'],
  ['equals', 'eq'],
  ['neq', 'ne'],
  ['includes', 'contains'],
]);

/** Compares a filter with the schema: its fields and arguments must exist, and their types must be comparable. */
export class FilterCheck {
  readonly #schema: GraphQLSchema;
  readonly #definition: GraphDefinition;
  readonly #file: string;
  readonly #findings: Findings;

  constructor(schema: GraphQLSchema, definition: GraphDefinition, file: string, findings: Findings) {
    this.#schema = schema;
    this.#definition = definition;
    this.#file = file;
    this.#findings = findings;
  }

  /** @param eventType undefined if the field has a resolver, so that the schema does not say what events contain */
  check(
    condition: Condition,
    field: EventField['field'],
    eventType: GraphQLNamedOutputType | undefined,
  ): void {
    if (condition.kind === 'not') return this.check(condition.condition, field, eventType);
    if (condition.kind !== 'comparison') {
      for (const inner of condition.conditions) this.check(inner, field, eventType);
      return;
    }
    const type = eventType && this.#typeAt(condition, eventType);
    if (eventType !== undefined && type === undefined) return;
    const { node, operator } = condition;
    if (node === undefined) return this.#missingBraces(condition, type);
    const fault = type && operatorFault(operator, type);
    if (fault) {
      const hint = fault.startsWith(NO_ORDER)
        ? `${listed(ORDERED)} have an order. Of other types, list the values that are wanted: { in: [ … ] }.`
        : `The field is of type ${String(type)}.`;
      this.#error(node, `${operator} ${fault}`, hint);
      return;
    }
    this.#checkOperand(condition, field, type);
  }

  /** The type of the compared field; if there is no such field, reports that and returns undefined. */
  #typeAt({ path }: Comparison, eventType: GraphQLNamedOutputType): GraphQLOutputType | undefined {
    const names = path.map(({ value }) => value);
    const { steps, stop } = followPath(this.#schema, eventType, names);
    for (const [index, { parent, field }] of steps.entries()) {
      if (!hasResolver(this.#definition, parent.name, field.name)) continue;
      this.#findings.warning(
        placeOf(path[index], this.#file),
        `@filter: ${parent.name}.${field.name} has a resolver, but filters run before resolvers`,
        `The filter compares what the event itself holds under ${field.name}, if anything.`,
      );
    }
    const type = steps.at(-1)?.field.type;
    if (stop === undefined) return type;
    const { kind, parent, name } = stop;
    if (kind === 'opaque') return parent;
    const node = path[steps.length];
    if (kind === 'list' && (isCompositeType(parent) || holdsAnything(parent))) {
      const message = `"${name}" stands within a list, and filters do not look into lists`;
      this.#error(node, message, `The field is of type ${String(type)}.`);
    } else if (isCompositeType(parent)) {
      const message = `${parent.name} has no field "${name}" to filter on`;
      this.#error(node, message, `Fields of ${parent.name}: ${fieldNames(this.#schema, parent)}.`);
    } else if (!isOperator(name)) {
      // An operator is read as a field only beside a name that is no operator, and that name is reported.
      const message = `"${name}" is neither an operator nor a field: ${parent.name} has no fields`;
      const guess = kind === 'list' ? 'Lists have contains. ' : operatorGuess(name);
      this.#error(node, message, `${guess}Operators: ${listed(OPERATORS)}.`);
    }
    return undefined;
  }

  #missingBraces({ path, operand: { node } }: Comparison, type: GraphQLOutputType | undefined): void {
    const message = `expected conditions in braces, got ${shown(node)}`;
    const name = path.at(-1)?.value ?? '';
    const named = type && getNamedType(type);
    const isOfObjects = named !== undefined && isCompositeType(named);
    if (type !== undefined && isList(type)) {
      const hint = isOfObjects
        ? `The field is of type ${type.toString()}, and filters do not look into lists.`
        : `Write ${name}: { contains: … }: ${name} is a list.`;
      this.#error(node, message, hint);
    } else if (isOfObjects) {
      const hint = `${name} is an object: name a field of ${named.name} in the braces.`;
      this.#error(node, message, `${hint} Fields of ${named.name}: ${fieldNames(this.#schema, named)}.`);
    } else {
      const mayBeOperator = path.length > 1 && (named === undefined || holdsAnything(named));
      const guess = mayBeOperator ? operatorGuess(name) : '';
      this.#error(node, message, `${guess}Write ${name}: { eq: … }; operators: ${listed(OPERATORS)}.`);
    }
  }

  #checkOperand(
    { operator, operand }: Comparison,
    field: EventField['field'],
    type: GraphQLOutputType | undefined,
  ): void {
    if (operator !== 'in') return this.#checkItem(operand, field, type, operator);
    if (operand.kind === 'list') {
      for (const item of operand.items) this.#checkItem(item, field, type, operator);
    } else if (operand.kind === 'viewer') {
      return; // Viewers have no declared type: whether the value is a list is only known at run time.
    } else if (operand.kind === 'literal') {
      this.#error(
        operand.node,
        `in expects a list, got ${shown(operand.node)}`,
        'Write in: [ … ], or use eq.',
      );
    } else {
      const argument = this.#argument(operand, field);
      if (argument && !isList(argument)) {
        const message = `in expects a list, got ${shown(operand.node)} of type ${argument.toString()}`;
        this.#error(operand.node, message, 'Use eq, or make the argument a list.');
      } else if (argument) {
        this.#checkTypes(operand, argument, type);
      }
    }
  }

  #checkItem(
    operand: Operand,
    field: EventField['field'],
    type: GraphQLOutputType | undefined,
    operator: string,
  ): void {
    if (operand.kind === 'list') {
      this.#error(
        operand.node,
        `${operator} expects one value, got a list`,
        'Use in to compare with several.',
      );
    } else if (operand.kind === 'viewer') {
      return;
    } else if (operand.kind === 'argument') {
      const argument = this.#argument(operand, field);
      if (argument && isList(argument)) {
        const message = `${operator} expects one value, got ${shown(operand.node)} of type ${argument.toString()}`;
        this.#error(operand.node, message, 'Use in to compare with several.');
      } else if (argument) {
        this.#checkTypes(operand, argument, type);
      }
    } else if (operand.value === null) {
      if (['eq', 'ne', 'in'].includes(operator)) return;
      this.#error(operand.node, `${operator} can't compare with null`, 'Use eq or ne.');
    } else if (type !== undefined && !literalFits(operand.value, getNamedType(type))) {
      const message = `expected ${describe(getNamedType(type))}, got ${shown(operand.node)}`;
      this.#error(operand.node, message, `The field is of type ${type.toString()}.`);
    }
  }

  #argument(
    operand: Operand & { kind: 'argument' },
    field: EventField['field'],
  ): GraphQLInputType | undefined {
    const argument = field.args.find(({ name }) => name === operand.name);
    if (argument === undefined) {
      const message = `Subscription.${field.name} has no argument "${operand.name}"`;
      const known = `Arguments: ${listed(field.args.map(({ name }) => name))}.`;
      this.#error(operand.node, message, `${known} Write "$$…" for text that begins with a dollar.`);
    }
    return argument?.type;
  }

  #checkTypes(operand: Operand, argument: GraphQLInputType, type: GraphQLOutputType | undefined): void {
    const from = getNamedType(argument);
    const fits = type === undefined ? !isInputObjectType(from) : typesFit(from, getNamedType(type));
    if (fits) return;
    const wanted = type === undefined ? 'a scalar or an enum' : describe(getNamedType(type));
    const message = `expected ${wanted}, got ${shown(operand.node)} of type ${argument.toString()}`;
    this.#error(operand.node, message, 'Give field and argument the same type.');
  }

  #error(node: Parameters<typeof placeOf>[0], message: string, hint: string): void {
    this.#findings.error(placeOf(node, this.#file), `@filter: ${message}`, hint);
  }
}

/** Names the operator that is probably meant by a name that is no operator, for hints. */
function operatorGuess(name: string): string {
  const near = OTHER_NAMES.get(name) ?? nearest(name, OPERATORS);
  return near === undefined || near === name ? '' : `Did you mean ${near}? `;
}

/** A custom scalar may be an object in events. */
function holdsAnything(type: GraphQLNamedType): boolean {
  return isScalarType(type) && !isSpecifiedScalarType(type);
}

const ORDERED: readonly string[] = ['Int', 'Float', 'String'];

const NO_ORDER = "can't order values of";

/** Why this operator can't be applied to a field of this type; undefined if it can. */
function operatorFault(operator: string, type: GraphQLOutputType): string | undefined {
  const named = getNamedType(type);
  if (isCompositeType(named)) return `can't compare objects: name a field of ${named.name}`;
  if (holdsAnything(named)) return undefined;
  if (operator === 'contains') {
    return isList(type) || named.name === 'String' ? undefined : 'is for lists and text';
  }
  if (isList(type)) return 'is not for lists: use contains';
  if (['eq', 'ne', 'in'].includes(operator)) return undefined;
  return ORDERED.includes(named.name) ? undefined : `${NO_ORDER} ${named.name}`;
}

const KINDS: Readonly<Record<string, { readonly fits: (value: unknown) => boolean; readonly text: string }>> =
  {
    Int: { fits: (value) => typeof value === 'number', text: 'a number' },
    Float: { fits: (value) => typeof value === 'number', text: 'a number' },
    String: { fits: (value) => typeof value === 'string', text: 'text' },
    Boolean: { fits: (value) => typeof value === 'boolean', text: 'true or false' },
    ID: { fits: (value) => typeof value === 'string' || Number.isInteger(value), text: 'an ID' },
  };

function literalFits(value: unknown, type: GraphQLNamedType): boolean {
  if (isEnumType(type))
    return typeof value === 'string' && type.getValue(value) !== null && type.getValue(value) !== undefined;
  return KINDS[type.name]?.fits(value) ?? true;
}

function typesFit(from: GraphQLNamedType, to: GraphQLNamedType): boolean {
  if (isInputObjectType(from)) return false;
  if (from.name === to.name) return true;
  const known = [from, to].map((type) => (isEnumType(type) ? type.name : KINDS[type.name]?.text));
  if (known.some((kind) => kind === undefined)) return true;
  if (isEnumType(from)) return to.name === 'String';
  if (to.name === 'ID') return from.name === 'String' || from.name === 'Int';
  if (from.name === 'ID') return to.name === 'String' || to.name === 'Int';
  return known[0] === known[1];
}

function describe(type: GraphQLNamedType): string {
  if (!isEnumType(type)) return KINDS[type.name]?.text ?? type.name;
  return `a value of ${type.name} (${listed(type.getValues().map(({ name }) => name))})`;
}
