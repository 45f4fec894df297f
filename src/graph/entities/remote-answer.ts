import { GraphQLError, isNonNullType, responsePathAsArray, type GraphQLResolveInfo } from 'graphql';
import { isRecord } from '../../support/kind-of.ts';
import type { FieldSet } from './field-set.ts';

/**
 * What a back end has answered is JSON under the keys of the client's document, so that one object may hold a field several
 * times, with different arguments. Names that begin with an underscore are the gateway's own.
 */
const OWN_KEY = '_key_';
const FOR_RESOLVERS = '_own_';
const CLIENTS_OWN = '_x';

/** The key under which a back end is asked for the client's key. */
export function remoteKey(key: string): string {
  return key.startsWith('_') ? CLIENTS_OWN + key : key;
}

/** The key under which a back end is asked for a field of an entity's key. */
export function keyOfKeyField(name: string): string {
  return OWN_KEY + name;
}

/** The key under which a back end is asked for a field that a resolver here may read. */
export function keyForResolvers(name: string): string {
  return FOR_RESOLVERS + name;
}

/** An object of an answer as a resolver of the graph's own gets it: scalars by their names, null where they failed. */
export function viewForResolvers(source: object): object {
  const fields = Object.entries(source).filter(([key]) => key.startsWith(FOR_RESOLVERS));
  return Object.freeze(
    Object.fromEntries(
      fields.map(([key, value]: [string, unknown]) => [
        key.slice(FOR_RESOLVERS.length),
        value instanceof Fault ? null : value,
      ]),
    ),
  );
}

function clientKey(key: string): string {
  return key.startsWith(CLIENTS_OWN) ? key.slice(CLIENTS_OWN.length) : key;
}

/** The back end that an object of an answer came from. */
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
  at(path: readonly Key[], { fieldNodes }: GraphQLResolveInfo): GraphQLError {
    const cause = new Error(this.message);
    return new GraphQLError(this.message, {
      nodes: fieldNodes,
      path: [...path, ...this.#below],
      originalError: cause,
    });
  }
}

/** The message of the error that a value stands for; undefined: it is no error. */
export function faultIn(value: unknown): string | undefined {
  return value instanceof Fault ? value.message : undefined;
}

/** Lists that hold a Fault. */
const faulty = new WeakSet<object>();

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
    if (Array.isArray(value)) faulty.add(value);
    object = value as Record<Key, unknown>;
    at = next;
  }
}

/** The keys of the client's result, as far as a back end has written keys. */
function keysIn(written: readonly unknown[]): Key[] {
  const keys: Key[] = [];
  for (const key of written) {
    if (typeof key === 'string' && /^\w{1,255}$/.test(key)) keys.push(clientKey(key));
    else if (Number.isSafeInteger(key) && Number(key) >= 0) keys.push(Number(key));
    else break;
  }
  return keys;
}

/** Notes for all objects of an answer where they came from, and freezes them, as executions share them. */
export function keepAnswer(value: unknown, backend: string): void {
  if (typeof value !== 'object' || value === null || value instanceof Fault) return;
  const waiting: object[] = [value];
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    if (!Array.isArray(object)) backends.set(object, backend);
    Object.freeze(object);
    for (const within of Object.values(object) as unknown[]) {
      if (typeof within === 'object' && within !== null && !(within instanceof Fault)) waiting.push(within);
    }
  }
}

/**
 * The value of an answer as a resolver returns it. What makes the field fail is returned as a promise: graphql-js takes an
 * error that is thrown within a list at once, and then forgets the promises of the items before, whose rejections would
 * count as unhandled.
 */
export function shownValue(value: unknown, info: GraphQLResolveInfo): unknown {
  if (value === null || value === undefined) return isNonNullType(info.returnType) ? new Later(null) : null;
  return isUntouched(value) ? value : withErrors(value, responsePathAsArray(info.path), info);
}

function isUntouched(value: unknown): boolean {
  return typeof value !== 'object' || value === null || !(value instanceof Fault || faulty.has(value));
}

function withErrors(value: unknown, path: readonly Key[], info: GraphQLResolveInfo): unknown {
  if (value instanceof Fault) return new Later(value.at(path, info));
  return (value as readonly unknown[]).map((item, index) =>
    isUntouched(item) ? item : withErrors(item, [...path, index], info),
  );
}

/** A promise of an error, or of null, that is made when it is asked for: until then, nothing is unhandled. */
class Later {
  readonly #outcome: GraphQLError | null;

  constructor(outcome: GraphQLError | null) {
    this.#outcome = outcome;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- executors ask for `then`
  then(onValue: (value: unknown) => unknown, onError: (error: unknown) => unknown): Promise<unknown> {
    const promise = this.#outcome === null ? Promise.resolve(null) : Promise.reject(this.#outcome);
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
    isEqual(fields, object[keyOfKeyField(name)], representation[name]),
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
