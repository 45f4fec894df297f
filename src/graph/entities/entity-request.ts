import { print } from 'graphql';
import { isRecord } from '../../support/kind-of.ts';
import type { Entity, EntitySource } from './entities.ts';
import { printFieldSet, type FieldSet } from './field-set.ts';
import { faultIn, mismatch, placeFault } from './remote-answer.ts';
import { keySelections, type RemoteField } from './remote-field.ts';

/** The value of a client's variable as JSON, with the type that the client has declared. */
export interface VariableValue {
  /** `[ID!]!` */
  readonly type: string;
  /** Undefined: the client has left it out. */
  readonly value: unknown;
}

/** One fetched field of one entity. */
export interface Ask {
  readonly entity: Entity;
  readonly source: EntitySource;
  /** The key by which the back end is asked. */
  readonly key: FieldSet;
  /** The values of its fields. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly field: RemoteField;
  /** One for each odd part of the field. */
  readonly variables: readonly VariableValue[];
  /** Whether the field can't be null, so that an object without it is null. */
  readonly isStrict: boolean;
}

/** Equal for two that ask the same. */
export function identityOf({ entity, values, field, variables }: Ask): string {
  return JSON.stringify([entity.type.name, values, field.identity, variables]);
}

/** A back end has answered with no data. */
export class RequestRefused extends Error {}

/** Gets the value of a fetched field, or the reason why there is none. */
export interface Asker {
  readonly ask: Ask;
  /** The objects of results that show the field. */
  readonly places: ReadonlySet<string>;
  settle(value: unknown): void;
  /**
   * Its value has not come, since the back end has made the whole object null for another field, or has left it out.
   *
   * @param failed objects of results that are null in any case
   */
  lose(failed: ReadonlySet<string>): void;
  /** Whether it is asked for apart from all other fields. */
  readonly isAlone: boolean;
  fail(reason: unknown): void;
}

/** The askers of one entity, by what they ask of it. */
interface Asked {
  readonly ask: Ask;
  readonly fields: Map<string, Asker[]>;
}

/** Entities of one type of which the same fields are asked. */
interface Group {
  readonly ask: Ask;
  readonly fields: readonly Ask[];
  readonly members: Asked[];
}

/**
 * One request to a GraphQL server for fields of many entities:
 *
 *     query LiveEntities($v0: [_Any!]!, $v1: Int) {
 *       e0: _entities(representations: $v0) {
 *         __typename
 *         ... on Product { _key_Product_upc: upc f0: name f1: reviews(first: $v1) { body } }
 *       }
 *     }
 *
 * Entities of which the same fields are asked stand in one list. A server with a lookup in place of `_entities` is asked
 * for one entity after the other.
 */
export class EntityRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly #groups: readonly Group[];

  /** @param askers all of one back end; at least one */
  constructor(askers: readonly Asker[]) {
    const variables = new Variables();
    this.#groups = groupsOf(askers);
    const fields = this.#groups.map((group, index) => `e${index}: ${fieldOf(group, variables)}`);
    this.query = `query LiveEntities${variables.declarations} { ${fields.join(' ')} }`;
    this.variables = variables.values;
  }

  /**
   * Gives each asker its part of the answer.
   *
   * @param answer parsed JSON, which is changed in place
   * @returns why there is none, for any asker; undefined: all have theirs
   */
  settle(answer: unknown): RequestRefused | undefined {
    const errors = isRecord(answer) && Array.isArray(answer['errors']) ? (answer['errors'] as unknown[]) : [];
    const data = isRecord(answer) ? answer['data'] : undefined;
    if (!isRecord(data)) {
      return new RequestRefused(
        errors.length > 0 ? messageOfError(errors[0]) : 'expected an answer with data',
      );
    }
    if (holdsMoreThan(MAX_VALUES, data))
      return new RequestRefused(`expected at most ${MAX_VALUES} values, got more`);
    const lists = this.#groups.map((group, index) => listOf(group, data[`e${index}`], errors.length > 0));
    for (const error of onceGeneral(errors.slice(0, MAX_ERRORS))) this.#place(error, lists);
    for (const [index, group] of this.#groups.entries()) settleGroup(group, lists[index] ?? 'no answer');
    return undefined;
  }

  /** The askers in two parts, by what they ask, and with a lookup of which entity; none if all ask the same. */
  halves(): (readonly Asker[])[] {
    const identities = new Map<string, Asker[]>();
    for (const asker of this.#groups.flatMap(({ members }) => members.flatMap(askersOf))) {
      const { ask } = asker;
      const { lookup } = ask.source;
      const entity = lookup === undefined ? ask.entity.type.name : [ask.entity.type.name, ask.values];
      const identity = JSON.stringify([fieldIdentity(ask), entity]);
      const same = identities.get(identity);
      if (same === undefined) identities.set(identity, [asker]);
      else same.push(asker);
    }
    const parts = [...identities.values()];
    if (parts.length < 2) return [];
    const middle = Math.ceil(parts.length / 2);
    return [parts.slice(0, middle).flat(), parts.slice(middle).flat()];
  }

  /** An error without the path of a field is one of all fields that are null. */
  #place(error: unknown, lists: readonly (unknown[] | string)[]): void {
    const written: unknown = isRecord(error) ? error['path'] : undefined;
    const path: readonly unknown[] = Array.isArray(written) ? written : [];
    const message = messageOfError(error);
    const at = indexIn('e', path[0]);
    for (const [index, group] of this.#groups.entries()) {
      if (at !== undefined && at !== index) continue;
      const list = lists[index];
      const place = group.ask.source.lookup === undefined ? path.slice(1) : [0, ...path.slice(1)];
      if (Array.isArray(list)) placeIn(list, group.fields.length, place, message);
    }
  }
}

function isGeneral(error: unknown): boolean {
  return !isRecord(error) || !Array.isArray(error['path']);
}

/** The first error without a path takes the place of all nulls: further ones find none. */
function onceGeneral(errors: readonly unknown[]): unknown[] {
  const first = errors.find(isGeneral);
  return errors.filter((error) => error === first || !isGeneral(error));
}

/** @returns 3 for `e3`; undefined: it is no such key */
function indexIn(letter: 'e' | 'f', key: unknown): number | undefined {
  const digits = typeof key === 'string' && key.startsWith(letter) ? key.slice(1) : '';
  return /^\d{1,6}$/.test(digits) ? Number(digits) : undefined;
}

function placeIn(
  list: unknown[],
  fields: number,
  [index, name, ...below]: readonly unknown[],
  message: string,
): void {
  const places = typeof index === 'number' ? [index] : list.keys();
  for (const place of places) {
    if (!(place in list)) continue;
    const object = (list[place] ??= new OnlyErrors());
    if (typeof object !== 'object') continue;
    const at = indexIn('f', name);
    // An error of a key, or of an entity, is one of all its fields.
    for (const field of at === undefined ? Array.from({ length: fields }).keys() : [at]) {
      if (field < fields) placeFault(object, `f${field}`, at === undefined ? [] : below, message);
    }
  }
}

function holdsMoreThan(most: number, root: object): boolean {
  const waiting: object[] = [root];
  let values = 0;
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    const within = Array.isArray(object) ? (object as unknown[]) : Object.values(object);
    values += within.length;
    if (values > most) return true;
    for (const value of within) if (typeof value === 'object' && value !== null) waiting.push(value);
  }
  return false;
}

/** The answers for a group's members, or what is wrong with them. */
function listOf({ ask, members }: Group, answered: unknown, hasErrors: boolean): unknown[] | string {
  if (answered === undefined) return 'expected an answer, got none';
  if (ask.source.lookup !== undefined) return [answered];
  if (answered === null && hasErrors) return members.map(() => null);
  if (Array.isArray(answered) && answered.length === members.length) return answered;
  return `expected a list of ${members.length} entities`;
}

function settleGroup({ fields, members }: Group, list: readonly unknown[] | string): void {
  for (const [index, member] of members.entries()) {
    const object = typeof list === 'string' ? undefined : list[index];
    const wrong = typeof list === 'string' ? list : wrongness(object, member.ask);
    if (wrong !== undefined) {
      for (const asker of askersOf(member)) asker.fail(new Error(wrong));
      continue;
    }
    const values = fields.map((_, at) =>
      object === null ? null : (object as Record<string, unknown>)[`f${at}`],
    );
    const failed = placesOfFailed(member, fields, values);
    for (const [at, field] of fields.entries()) {
      for (const asker of member.fields.get(fieldIdentity(field)) ?? []) {
        if (values[at] === undefined) asker.lose(failed);
        else asker.settle(values[at]);
      }
    }
  }
}

/** The objects of results that are null, since a field that they show has failed that can't be null. */
function placesOfFailed(
  member: Asked,
  fields: readonly Ask[],
  values: readonly unknown[],
): ReadonlySet<string> {
  const failed = fields.filter((field, at) => field.isStrict && faultIn(values[at]) !== undefined);
  return new Set(failed.flatMap((field) => placesOf(member.fields.get(fieldIdentity(field)) ?? [])));
}

/** Stands for an entity that is null since a field of it has failed. */
class OnlyErrors {
  [field: `f${number}`]: unknown;
}

/** Null is an entity that the back end does not know. */
function wrongness(object: unknown, { entity, key, values }: Ask): string | undefined {
  if (object === null || object instanceof OnlyErrors) return undefined;
  return mismatch(object, entity.type.name, key, values);
}

function askersOf({ fields }: Asked): Asker[] {
  return [...fields.values()].flat();
}

function fieldIdentity({ field, variables }: Ask): string {
  return variables.length === 0 ? field.identity : JSON.stringify([field.identity, variables]);
}

function groupsOf(askers: readonly Asker[]): Group[] {
  const asked = new Map<string, Asked>();
  for (const asker of askers) {
    const { ask } = asker;
    const identity = JSON.stringify([ask.entity.type.name, ask.values]);
    const one = asked.get(identity) ?? { ask, fields: new Map<string, Asker[]>() };
    asked.set(identity, one);
    const field = fieldIdentity(ask);
    const same = one.fields.get(field);
    if (same === undefined) one.fields.set(field, [asker]);
    else same.push(asker);
  }
  const groups = new Map<string, Group>();
  const parts = [...asked].flatMap(([identity, whole]) => apart(whole).map((part) => ({ identity, part })));
  for (const { identity, part: member } of parts) {
    const { ask, fields } = member;
    const first = [...fields.values()].flatMap(([asker]) => asker?.ask ?? []);
    const kind = JSON.stringify([ask.entity.type.name, printFieldSet(ask.key), [...fields.keys()]]);
    const name = ask.source.lookup === undefined ? kind : identity + kind;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { ask, fields: first, members: [member] });
    else group.members.push(member);
  }
  return [...groups.values()];
}

/**
 * Asks for a field that can't be null apart from the others, unless each object that shows one of them shows this one,
 * too: a back end that can't give it answers null for the whole entity.
 */
function apart({ ask, fields }: Asked): Asked[] {
  const all = new Set([...fields.values()].flatMap((askers) => placesOf(askers)));
  const alone = [...fields].filter(
    ([, askers]) =>
      askers.some(({ isAlone }) => isAlone) ||
      (askers[0]?.ask.isStrict === true && new Set(placesOf(askers)).size < all.size),
  );
  if (alone.length === 0) return [{ ask, fields }];
  const together = new Map([...fields].filter(([name]) => !alone.some(([one]) => one === name)));
  const parts = alone.map((field) => ({ ask, fields: new Map([field]) }));
  return together.size === 0 ? parts : [{ ask, fields: together }, ...parts];
}

function placesOf(askers: readonly Asker[]): string[] {
  return askers.flatMap(({ places }) => [...places]);
}

function fieldOf({ ask, fields, members }: Group, variables: Variables): string {
  const { entity, source, key, values } = ask;
  const own = keySelections(entity.type.name, key).map((node) => print(node));
  const asked = fields.map((one, index) => `f${index}: ${textOf(one, variables)}`);
  const selection = `{ __typename ... on ${entity.type.name} { ${[...own, ...asked].join(' ')} } }`;
  const { lookup } = source;
  if (lookup !== undefined) {
    const text = lookup.parts.map((part, index) => {
      if (index % 2 === 0) return part;
      return variables.of({ type: lookup.variables.get(part) ?? 'ID!', value: values[part] }).slice(1);
    });
    return `${text.join('')} ${selection}`;
  }
  const representations = members.map((member) => ({ __typename: entity.type.name, ...member.ask.values }));
  const name = variables.of({ type: '[_Any!]!', value: representations });
  return `_entities(representations: ${name}) ${selection}`;
}

function textOf({ field, variables: values }: Ask, variables: Variables): string {
  return field.parts
    .map((part, index) => {
      const value = values[(index - 1) / 2];
      return value === undefined ? part : variables.of(value).slice(1);
    })
    .join('');
}

/** The variables of one request: those of equal type and value are one. */
class Variables {
  readonly values: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();
  readonly #declared: string[] = [];

  /** @returns `$v0` */
  of({ type, value }: VariableValue): string {
    const identity = JSON.stringify(value === undefined ? [type] : [type, value]);
    const known = this.#names.get(identity);
    if (known !== undefined) return known;
    const name = `v${this.#names.size}`;
    this.#names.set(identity, `$${name}`);
    this.#declared.push(`$${name}: ${type}`);
    if (value !== undefined) this.values[name] = value;
    return `$${name}`;
  }

  get declarations(): string {
    return this.#declared.length === 0 ? '' : `(${this.#declared.join(', ')})`;
  }
}

/** Most errors of an answer that are looked at. */
const MAX_ERRORS = 1_000;

/** Most values of an answer: what it makes executions do takes a multiple of the time in which it was parsed. */
const MAX_VALUES = 50_000;

/** Longest message kept, of a text that a back end has written. */
const MAX_MESSAGE = 1_000;

function messageOfError(error: unknown): string {
  const message = isRecord(error) ? error['message'] : undefined;
  return typeof message === 'string' && message !== ''
    ? message.slice(0, MAX_MESSAGE)
    : 'an error without a message';
}
