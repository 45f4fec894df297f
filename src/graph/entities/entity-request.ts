import { print } from 'graphql';
import { isRecord } from '../../support/kind-of.ts';
import type { Entity, EntitySource } from './entities.ts';
import type { FieldSet } from './field-set.ts';
import { keepAnswer, mismatch, placeFault } from './remote-answer.ts';
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
  return JSON.stringify([entity.type.name, values, field.text, variables]);
}

/** Gets the value of a fetched field, or the reason why there is none. */
export interface Asker {
  readonly ask: Ask;
  /** The objects of results that show the field. */
  readonly places: ReadonlySet<string>;
  settle(value: unknown): void;
  /** Its value is not known, as another field has made its object null; so have the results that show both. */
  lose(): void;
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
 *         ... on Product { _key_upc: upc f0: name f1: reviews(first: $v1) { body } }
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

  /** Gives each asker its part of the answer. @param answer parsed JSON, which is changed in place */
  settle(answer: unknown): void {
    const errors = isRecord(answer) && Array.isArray(answer['errors']) ? (answer['errors'] as unknown[]) : [];
    const data = isRecord(answer) ? answer['data'] : undefined;
    if (!isRecord(data)) {
      this.fail(new Error(errors.length > 0 ? messageOfError(errors[0]) : 'expected an answer with data'));
      return;
    }
    const lists = this.#groups.map((group, index) => listOf(group, data[`e${index}`]));
    for (const error of errors) this.#place(error, lists);
    for (const [index, group] of this.#groups.entries()) settleGroup(group, lists[index] ?? 'no answer');
  }

  fail(reason: unknown): void {
    for (const { members } of this.#groups) {
      for (const asker of members.flatMap(askersOf)) asker.fail(reason);
    }
  }

  /** An error without the path of a field is one of all fields that are null. */
  #place(error: unknown, lists: readonly (unknown[] | string)[]): void {
    const written: unknown = isRecord(error) ? error['path'] : undefined;
    const path: readonly unknown[] = Array.isArray(written) ? written : [];
    const message = messageOfError(error);
    for (const [at, group] of this.#groups.entries()) {
      if (path.length > 0 && path[0] !== `e${at}`) continue;
      const list = lists[at];
      if (!Array.isArray(list)) continue;
      const [place, name, ...below] =
        group.ask.source.lookup === undefined ? path.slice(1) : [0, ...path.slice(1)];
      for (const [index, object] of list.entries()) {
        if (place !== undefined && place !== index) continue;
        list[index] = object ?? new OnlyErrors();
        for (const field of group.fields.keys()) {
          if (name === undefined || name === `f${field}`)
            placeFault(list[index] as object, `f${field}`, below, message);
        }
      }
    }
  }
}

/** The answers for a group's members, or what is wrong with them. */
function listOf({ ask, members }: Group, answered: unknown): unknown[] | string {
  if (ask.source.lookup !== undefined) return [answered];
  if (answered === null || answered === undefined) return members.map(() => null);
  if (Array.isArray(answered) && answered.length === members.length) return answered;
  return `expected a list of ${members.length} entities`;
}

function settleGroup({ ask, fields, members }: Group, list: readonly unknown[] | string): void {
  for (const [index, member] of members.entries()) {
    const object = typeof list === 'string' ? undefined : list[index];
    const wrong = typeof list === 'string' ? list : wrongness(object, member.ask);
    if (wrong !== undefined) {
      for (const asker of askersOf(member)) asker.fail(new Error(wrong));
      continue;
    }
    keepAnswer(object, ask.source.backend);
    for (const [at, field] of fields.entries()) {
      const value = object === null ? null : (object as Record<string, unknown>)[`f${at}`];
      for (const asker of member.fields.get(fieldIdentity(field)) ?? []) {
        if (value === undefined) asker.lose();
        else asker.settle(value);
      }
    }
  }
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
  return variables.length === 0 ? field.text : JSON.stringify([field.text, variables]);
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
  for (const [identity, member] of [...asked].flatMap(([name, one]) =>
    apart(one).map((part) => [name, part] as const),
  )) {
    const { ask, fields } = member;
    const first = [...fields.values()].flatMap(([asker]) => asker?.ask ?? []);
    const kind = JSON.stringify([ask.entity.type.name, Object.keys(ask.values), [...fields.keys()]]);
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
    ([, askers]) => askers[0]?.ask.isStrict === true && new Set(placesOf(askers)).size < all.size,
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
  const own = keySelections(key).map((node) => print(node));
  const asked = fields.map((one, index) => `f${index}: ${textOf(one, variables)}`);
  const selection = `{ __typename ... on ${entity.type.name} { ${[...own, ...asked].join(' ')} } }`;
  const { lookup } = source;
  if (lookup !== undefined) {
    const text = lookup.text.replace(/\$(\w+)/g, (_, name: string) => {
      return variables.of({ type: lookup.variables.get(name) ?? 'ID!', value: values[name] });
    });
    return `${text} ${selection}`;
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

/** Longest message kept, of a text that a back end has written. */
const MAX_MESSAGE = 1_000;

function messageOfError(error: unknown): string {
  const message = isRecord(error) ? error['message'] : undefined;
  return typeof message === 'string' && message !== ''
    ? message.slice(0, MAX_MESSAGE)
    : 'an error without a message';
}
