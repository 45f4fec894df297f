import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLNamedOutputType,
  type GraphQLSchema,
} from 'graphql';
import { snakeCase } from '../../events/snake-case.ts';
import { nearest } from '../../support/nearest.ts';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import type { EventField } from '../directives/event-field.ts';
import { fieldNames, followPath, isSnakeCase, plainPaths } from '../event-type.ts';

/** GraphQL names separated by dots: none contains `:` or `=`, which separate the parts of a channel's name. */
const KEY = /^[_A-Za-z]\w*(\.[_A-Za-z]\w*)*$/;

/** A field that has a key. */
type KeyedField = EventField & { readonly key: string };

/** Compares `@event(key:, argument:)` with the schema. A key gets one error: hints of several would not agree. */
export class KeyCheck {
  readonly #schema: GraphQLSchema;
  readonly #definition: GraphDefinition;
  readonly #findings: Findings;

  constructor(schema: GraphQLSchema, definition: GraphDefinition, findings: Findings) {
    this.#schema = schema;
    this.#definition = definition;
    this.#findings = findings;
  }

  /** @param eventType undefined if the field has a resolver, so that the schema does not say what events contain */
  check(field: EventField, eventType: GraphQLNamedOutputType | undefined): void {
    if (hasKey(field)) this.#checkKey(field, eventType);
    else if (field.argument !== undefined) {
      const message = 'argument without a key: expected the event field by which it picks';
      this.#findings.error(field.placeOfArgument('argument'), message, 'Add key: "…".');
    }
  }

  #checkKey(keyed: KeyedField, eventType: GraphQLNamedOutputType | undefined): void {
    const { field, key, keyStyle } = keyed;
    const path = key.split('.');
    if (!KEY.test(key)) {
      const message = `key: expected the name of an event field, or names separated by dots, got "${key}"`;
      this.#error(keyed, message, 'Write "order_id" or "customer.customer_id".');
    } else if (keyStyle === 'SNAKE' && !path.every(isSnakeCase)) {
      const message = `no event can have the key "${key}": keys of events become snake_case before they get here`;
      this.#error(keyed, message, snakeHint(keyed, path));
    } else {
      const argument = field.args.find(({ name }) => name === keyed.argument);
      if (argument !== undefined) this.#checkArgument(keyed, argument);
      const isRoutable = eventType === undefined || this.#isRoutable(keyed, path, eventType);
      if (isRoutable && argument === undefined) this.#missingArgument(keyed, path);
    }
  }

  /** @returns whether events of the type can be routed by the field; if not, the fault has been reported */
  #isRoutable(keyed: KeyedField, path: readonly string[], eventType: GraphQLNamedOutputType): boolean {
    const { field, key, placeOfArgument } = keyed;
    const { steps, stop } = followPath(this.#schema, eventType, path);
    for (const { parent, field: object } of steps.slice(0, path.length - 1)) {
      if (!hasResolver(this.#definition, parent.name, object.name)) continue;
      this.#findings.warning(
        placeOfArgument('key'),
        `key "${key}": ${parent.name}.${object.name} has a resolver, but events are routed before resolvers`,
        `They are routed by what they hold themselves under ${object.name}, if anything.`,
      );
    }
    const last = steps.at(-1)?.field;
    const type = last?.type.toString();
    if (stop?.kind === 'opaque') return true;
    if (stop?.kind === 'list') {
      const message = `key "${key}": "${stop.name}" stands within a list, and keys do not look into lists`;
      this.#error(
        keyed,
        message,
        `${last?.name} is of type ${type}: add a list of these values to the event, where it is sent or by decode in the graph's code.`,
      );
    } else if (stop === undefined) {
      if (last === undefined || !isCompositeType(getNamedType(last.type))) return true;
      const message = `key "${key}" is a field of type ${type}: events are routed by scalars and enums`;
      const paths = this.#paths(keyed, eventType).filter(
        (one) => one.startsWith(key) && /^[._A-Z]/.test(one.slice(key.length)),
      );
      const hint =
        paths.length === 0
          ? 'Route by the ID of that object, as a field of the event.'
          : `Route by the ID of that object: ${offered(paths)}.`;
      this.#error(keyed, message, hint);
    } else if (isCompositeType(stop.parent)) {
      const { name } = stop.parent;
      const message =
        path.length === 1
          ? `key "${key}" is no field of ${name}`
          : `key "${key}": ${name} has no field "${stop.name}"`;
      const known = `Fields of ${name}: ${fieldNames(this.#schema, stop.parent)}. ${argumentsOf(field)}`;
      const paths = this.#paths(keyed, eventType);
      const nested = path.length === 1 ? paths.filter((one) => one.endsWith(`.${key}`)) : [];
      const meant = nested.length > 0 ? nested : nearestBelow(path, steps.length, paths);
      const hint =
        meant.length > 0
          ? `Did you mean ${offered(meant)}?`
          : `Add ${stop.name} to ${name}: the key names an event field, and the argument that picks by it.`;
      this.#error(keyed, message, `${hint} ${known}`);
    } else {
      const message = `key "${key}": "${stop.name}" stands below ${last?.name}, which is of type ${type}`;
      this.#error(keyed, message, `Write key: "${path.slice(0, steps.length).join('.')}".`);
    }
    return false;
  }

  /** Paths that events can be routed by. */
  #paths({ keyStyle }: KeyedField, eventType: GraphQLNamedOutputType): string[] {
    const paths = plainPaths(this.#schema, eventType, this.#definition);
    return keyStyle === 'KEEP' ? paths : paths.filter(isSnakeCase);
  }

  #missingArgument({ field, key, argument, placeOfArgument }: KeyedField, path: readonly string[]): void {
    const isNamed = argument !== path.at(-1);
    const what = isNamed ? `argument "${argument}"` : `key "${key}"`;
    const message =
      isNamed || path.length === 1
        ? `${what} is no argument of Subscription.${field.name}`
        : `${what}: Subscription.${field.name} has no argument "${argument}"`;
    const hint = `${argumentsOf(field)} Add one of that name, or name the one that picks by the key: argument: "…".`;
    this.#findings.error(placeOfArgument(isNamed ? 'argument' : 'key'), message, hint);
  }

  #checkArgument({ field, key, placeOfArgument, place }: KeyedField, argument: GraphQLArgument): void {
    const { name, astNode } = argument;
    const type = getNullableType(argument.type);
    const element = isListType(type) ? getNullableType(type.ofType) : type;
    if (isInputObjectType(element) || isListType(element)) {
      const message = `key "${key}" picks channels by ${argument.type.toString()}, expected a scalar, an enum or a list of them`;
      this.#findings.error(
        placeOf(astNode, placeOfArgument('key').file),
        message,
        'Pick by an ID, for instance.',
      );
    } else if (!isNonNullType(argument.type)) {
      this.#findings.warning(
        astNode ? placeOf(astNode, place.file) : place,
        `key argument "${name}" of Subscription.${field.name} may be null: leaving it out yields everyone's events`,
        `If that is not meant, write ${name}: ${argument.type.toString()}!`,
      );
    }
  }

  #error({ placeOfArgument }: KeyedField, message: string, hint: string): void {
    this.#findings.error(placeOfArgument('key'), message, hint);
  }
}

function hasKey(field: EventField): field is KeyedField {
  return field.key !== undefined;
}

/** Finds the nearest of the paths with the same first `right` names; only the rest of each path is compared. */
function nearestBelow(path: readonly string[], right: number, paths: readonly string[]): string[] {
  const prefix = path
    .slice(0, right)
    .map((name) => `${name}.`)
    .join('');
  const below = paths.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
  const near = nearest(path.slice(right).join('.'), below);
  return near === undefined ? [] : [prefix + near];
}

const MOST_OFFERED = 3;

function offered(paths: readonly string[]): string {
  const keys = paths.slice(0, MOST_OFFERED).map((path) => `key: "${path}"`);
  return keys.join(' or ');
}

/** The argument need not be renamed: only the key is looked up in events. */
function snakeHint({ field, argument }: KeyedField, path: readonly string[]): string {
  const names = path.map(snakeCase);
  const isThere = field.args.some(({ name }) => name === argument);
  const picking = isThere ? `argument: "${argument}"` : `with an argument ${names.at(-1)}`;
  return `Write key: "${names.join('.')}", ${picking}; or @event(keys: KEEP), for a schema in camelCase.`;
}

function argumentsOf({ args }: EventField['field']): string {
  return `Arguments: ${listed(args.map(({ name }) => name))}.`;
}
