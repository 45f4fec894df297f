import {
  getNullableType,
  GraphQLError,
  isLeafType,
  isListType,
  isNonNullType,
  isSpecifiedScalarType,
  responsePathAsArray,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { messageOf } from '../../errors.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { isRecord } from '../../support/kind-of.ts';
import type { FieldSet } from './field-set.ts';

/**
 * Answers of back ends are JSON under the keys of the client's document, so that one object may hold a field several times,
 * with different arguments. Names that begin with an underscore are the gateway's own. They hold the name of the
 * type, since fields of one name may have different types in the members of a union.
 */
const OWN_KEY = '_key_';
const FOR_RESOLVERS = '_own_';
const CLIENTS_OWN = '_x';

/** The key under which a back end is asked for the client's key. */
export function remoteKey(key: string): string {
  return key.startsWith('_') || key in Object.prototype ? CLIENTS_OWN + key : key;
}

/** The key under which a back end is asked for a field of an entity's key. */
export function keyOfKeyField(type: string, name: string): string {
  return `${OWN_KEY}${type}_${name}`;
}

/** The key under which a back end is asked for a field that a resolver here may read. */
export function keyForResolvers(type: string, name: string): string {
  return `${FOR_RESOLVERS}${type}_${name}`;
}

function isOwnKey(key: string): boolean {
  return key.startsWith(OWN_KEY) || key.startsWith(FOR_RESOLVERS);
}

function clientKey(key: string): string {
  return key.startsWith(CLIENTS_OWN) ? key.slice(CLIENTS_OWN.length) : key;
}

/** The back end that an object of an answer came from: noted when the object is shown. */
const backends = new WeakMap<object, string>();

/** @returns undefined if the object is no part of an answer, but of an event, or a resolver has made it */
export function backendOf(source: unknown): string | undefined {
  return typeof source === 'object' && source !== null ? backends.get(source) : undefined;
}

type Key = string | number;

/** An error of a back end's answer, in the place of the null that it has caused there. */
class Fault {
  readonly message: string;
  /** Keys from that place on to the field that failed. */
  readonly #below: readonly Key[];

  constructor(message: string, below: readonly Key[]) {
    this.message = message;
    this.#below = below;
  }

  /** @param path of the place in the client's result */
  at(path: readonly Key[], backend: string, { fieldNodes }: GraphQLResolveInfo): GraphQLError {
    const cause = new Error(`the back end ${backend} answered: ${this.message}`);
    // A stack would lead to the gateway.
    cause.stack = cause.message;
    return new GraphQLError(this.message, {
      nodes: fieldNodes,
      path: [...path, ...this.#below],
      originalError: cause,
    });
  }
}

/** Whether an error stands for a value, or in it. */
export function holdsFault(value: unknown): boolean {
  return faultWithin(value) !== undefined;
}

/** The message of the error that a value stands for; undefined: it is no error. */
export function faultIn(value: unknown): string | undefined {
  return value instanceof Fault ? value.message : undefined;
}

/**
 * Puts an error of an answer where its null stands. Without a null there, the error is left out: it is not about a value.
 *
 * @param holder holds the value under `key`
 * @param below keys from the value to the field that failed
 */
export function placeFault(holder: object, key: Key, below: readonly unknown[], message: string): void {
  let [object, at] = [holder as Record<Key, unknown>, key];
  for (let depth = 0; ; depth += 1) {
    const value = object[at];
    if (value === null || value === undefined) {
      object[at] = new Fault(message, keysIn(below.slice(depth)));
      return;
    }
    const next = below[depth];
    if (typeof value !== 'object' || value instanceof Fault) return;
    if (typeof next !== 'string' && typeof next !== 'number') return;
    if (!Object.hasOwn(value, next)) return;
    object = value as Record<Key, unknown>;
    at = next;
  }
}

/** Longest path that a client is told. */
const MAX_PATH = 100;

/** The keys of the client's result, as far as a back end has written keys. */
function keysIn(written: readonly unknown[]): Key[] {
  const keys: Key[] = [];
  for (const key of written.slice(0, MAX_PATH)) {
    if (typeof key === 'string' && /^\w{1,255}$/.test(key) && !isOwnKey(key)) keys.push(clientKey(key));
    else if (Number.isSafeInteger(key) && Number(key) >= 0) keys.push(Number(key));
    else break;
  }
  return keys;
}

/**
 * The value of an answer as a resolver returns it. What makes the field fail is returned as a promise: graphql-js takes an
 * error that is thrown within a list at once, and then forgets the promises of the items before, whose rejections would
 * count as unhandled.
 *
 * @param backend that has answered
 */
export function shownValue(value: unknown, backend: string, info: GraphQLResolveInfo): unknown {
  return shown(value, info.returnType, backend, info, []);
}

function shown(
  value: unknown,
  type: GraphQLOutputType,
  backend: string,
  info: GraphQLResolveInfo,
  indexes: readonly number[],
): unknown {
  if (value === null || value === undefined) return isNonNullType(type) ? new Later(null) : null;
  if (value instanceof Fault)
    return new Later(value.at([...responsePathAsArray(info.path), ...indexes], backend, info));
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    if (!Array.isArray(value)) return value;
    const items = value as readonly unknown[];
    return items.map((item, index) => shown(item, nullable.ofType, backend, info, [...indexes, index]));
  }
  if (isLeafType(nullable)) {
    const fault = faultWithin(value);
    return fault === undefined ? inner(value, nullable) : shown(fault, type, backend, info, indexes);
  }
  if (typeof value === 'object') {
    backends.set(value, backend);
    // Executions share it.
    Object.freeze(value);
  }
  return value;
}

/** An error that was placed in a value. */
function faultWithin(value: unknown): Fault | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Fault) return value;
  for (const within of Object.values(value) as unknown[]) {
    const fault = faultWithin(within);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A scalar or an enum as resolvers of this graph return it: its code may have values of its own. */
function inner(value: unknown, type: GraphQLLeafType): unknown {
  if (isSpecifiedScalarType(type)) return value;
  try {
    deepFreeze(value);
    return type.parseValue(value);
  } catch (error) {
    // graphql-js's own message, which holds the value, is not for clients.
    return new Later(new TypeError(`${type.name}: ${messageOf(error)}`, { cause: error }));
  }
}

/**
 * An object as the graph's own resolvers and rules get it: of an answer, the scalars that were asked for them, by their
 * names, null where they failed; any other object as it is.
 */
export function plainSource(source: unknown, type: GraphQLObjectType): unknown {
  if (backendOf(source) === undefined) return source;
  const prefix = keyForResolvers(type.name, '');
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source as Readonly<Record<string, unknown>>)) {
    const field = key.startsWith(prefix) ? type.getFields()[key.slice(prefix.length)] : undefined;
    if (field !== undefined) plain[field.name] = plainValue(value, field.type);
  }
  return Object.freeze(plain);
}

function plainValue(value: unknown, type: GraphQLOutputType): unknown {
  if (value === null || value === undefined || faultWithin(value) !== undefined) return null;
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    if (!Array.isArray(value)) return null;
    return Object.freeze(value.map((item: unknown) => plainValue(item, nullable.ofType)));
  }
  if (!isLeafType(nullable)) return null;
  const read = inner(value, nullable);
  return read instanceof Later ? null : read;
}

/** A promise of an error, or of null, that is made when it is asked for: until then, nothing is unhandled. */
export class Later {
  readonly #outcome: unknown;

  /** @param outcome null, or the reason with which it rejects */
  constructor(outcome: unknown) {
    this.#outcome = outcome;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- executors ask for `then`
  then(onValue: (value: unknown) => unknown, onError: (error: unknown) => unknown): Promise<unknown> {
    const promise = this.#outcome === null ? Promise.resolve(null) : Promise.reject(this.#outcome as Error);
    return promise.then(onValue, onError);
  }
}

/** Why an object of an answer is not the entity that was asked for; undefined if it is. */
export function mismatch(
  object: unknown,
  type: string,
  key: FieldSet,
  representation: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!isRecord(object)) return `expected an object of ${type}`;
  if (object['__typename'] !== type) {
    return `expected an object of ${type}, got one of ${typeNameOf(object)}`;
  }
  const isAsked = key.every(({ name, fields }) =>
    isEqual(fields, object[keyOfKeyField(type, name)], representation[name]),
  );
  return isAsked ? undefined : `expected the ${type} that was asked for, got another one`;
}

function isEqual(fields: FieldSet | undefined, answered: unknown, asked: unknown): boolean {
  // A number equals its text, as GraphQL IDs do.
  if (fields === undefined) return typeof answered !== 'object' && String(answered) === String(asked);
  if (!isRecord(answered) || !isRecord(asked)) return false;
  return fields.every(({ name, fields: below }) => isEqual(below, answered[name], asked[name]));
}

function typeNameOf({ __typename: name }: Readonly<Record<string, unknown>>): string {
  return typeof name === 'string' && /^\w{1,100}$/.test(name) ? name : 'another type';
}
