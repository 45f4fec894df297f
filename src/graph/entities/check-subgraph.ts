import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  Kind,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
} from 'graphql';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import type { Entities, Lookup } from './entities.ts';
import { printFieldSet, readFieldSet, type FieldSet } from './field-set.ts';
import { isAsked } from './remote-field.ts';

type Field = GraphQLField<unknown, unknown>;

/** The parts of a graph that are compared with the schemas of its back ends. */
export interface Asking {
  readonly schema: GraphQLSchema;
  readonly entities: Entities;
  readonly definition: GraphDefinition;
}

/**
 * Compares all that a back end can be asked for, fetched fields, what is below them, and keys, with the back end's own
 * schema.
 *
 * @param backend its name
 * @param remote may be that of a router, which has the fields of all its subgraphs
 * @param file of the graph's schema
 */
export function checkSubgraph(
  asking: Asking,
  backend: string,
  remote: GraphQLSchema,
  file: string,
  findings: Findings,
): void {
  new SubgraphCheck(asking, backend, remote, file, findings).check();
}

class SubgraphCheck {
  readonly #asking: Asking;
  readonly #backend: string;
  readonly #remote: GraphQLSchema;
  readonly #file: string;
  readonly #findings: Findings;
  /** Types of which an object that the back end has answered has been compared. */
  readonly #compared = new Set<GraphQLNamedType>();

  constructor(asking: Asking, backend: string, remote: GraphQLSchema, file: string, findings: Findings) {
    this.#asking = asking;
    this.#backend = backend;
    this.#remote = remote;
    this.#file = file;
    this.#findings = findings;
  }

  check(): void {
    const own = [...this.#asking.entities.types.values()].filter(
      ({ source }) => source?.backend === this.#backend,
    );
    for (const { type, keys, source, fetched } of own) {
      const remote = this.#objectOf(type);
      if (remote === undefined) continue;
      for (const key of keys) this.#compareKey(type, key, remote);
      if (source?.lookup === undefined) this.#compareKeys(type, keys, remote);
      else this.#compareLookup(type, source.lookup);
      for (const name of fetched) {
        const field = type.getFields()[name];
        if (field !== undefined) this.#compareField(type, field, remote);
      }
    }
  }

  #objectOf(type: GraphQLObjectType): GraphQLObjectType | undefined {
    const remote = this.#remote.getType(type.name);
    if (isObjectType(remote)) return remote;
    const message = `the back end ${this.#backend} has no object type ${type.name}`;
    this.#error(type, message, 'A type has the same name here and there.');
    return undefined;
  }

  #compareKey(type: GraphQLObjectType, key: FieldSet, remote: GraphQLObjectType): void {
    for (const { name, fields } of key) {
      const field = type.getFields()[name];
      const answered = remote.getFields()[name];
      if (answered === undefined) {
        const message = `the back end ${this.#backend} has no ${type.name}.${name}, a field of the key`;
        this.#error(field ?? type, message, `Its fields: ${listed(Object.keys(remote.getFields()))}.`);
        continue;
      }
      const [below, there] = [field && getNamedType(field.type), getNamedType(answered.type)];
      if (fields !== undefined && isObjectType(below) && isObjectType(there))
        this.#compareKey(below, fields, there);
    }
  }

  #compareLookup(type: GraphQLObjectType, { field: name, parts, variables }: Lookup): void {
    const field = this.#remote.getQueryType()?.getFields()[name];
    const known = Object.keys(this.#remote.getQueryType()?.getFields() ?? {});
    if (field === undefined) {
      const message = `the back end ${this.#backend} has no Query.${name}, by which ${type.name} is looked up`;
      this.#error(type, message, `Its query fields: ${listed(known)}.`);
    } else if (!isCompositeType(getNamedType(field.type)) || isListType(getNullableType(field.type))) {
      const message = `Query.${name} of the back end ${this.#backend} returns ${String(field.type)}`;
      this.#error(type, message, `A lookup returns one ${type.name}.`);
    } else {
      const declared = [...variables].map(([variable, its]) => `$${variable}: ${its}`).join(' ');
      const text = parts.join('');
      const document = parse(`query (${declared}) { ${text} { __typename } }`);
      const rules = specifiedRules.filter((rule) => rule !== NoUnusedVariablesRule);
      for (const { message } of validate(this.#remote, document, rules)) {
        const hint = `It is asked for { ${text} }.`;
        this.#error(type, `the back end ${this.#backend} does not take the lookup: ${message}`, hint);
      }
    }
  }

  /** An SDL names the keys by which a subgraph gives its entities; introspection does not. */
  #compareKeys(type: GraphQLObjectType, keys: readonly FieldSet[], remote: GraphQLObjectType): void {
    const nodes = [remote.astNode, ...remote.extensionASTNodes].flatMap((node) => node?.directives ?? []);
    const theirs = nodes.flatMap(({ name, arguments: args = [] }) => {
      const fields = args.find((argument) => argument.name.value === 'fields')?.value;
      return name.value === 'key' && fields?.kind === Kind.STRING
        ? [printFieldSet(readFieldSet(fields.value))]
        : [];
    });
    for (const key of theirs.length === 0 ? [] : keys) {
      if (theirs.includes(printFieldSet(key))) continue;
      const message = `the back end ${this.#backend} has no @key(fields: "${printFieldSet(key)}") on ${type.name}`;
      this.#error(type, message, `Its keys: ${listed(theirs)}.`);
    }
  }

  #compareField(type: GraphQLNamedType, field: Field, remote: GraphQLNamedType): void {
    const coordinate = `${type.name}.${field.name}`;
    const fields = isObjectType(remote) || isInterfaceType(remote) ? remote.getFields() : {};
    const answered = fields[field.name];
    if (answered === undefined) {
      const message = `the back end ${this.#backend} has no ${coordinate}`;
      this.#error(field, message, `Its fields: ${listed(Object.keys(fields))}.`);
      return;
    }
    this.#compareArguments(coordinate, field, answered);
    if (shapeOf(field.type) !== shapeOf(answered.type)) {
      const message = `${coordinate} is of type ${String(field.type)}, but ${String(answered.type)} in the back end ${this.#backend}`;
      this.#error(field, message, `Write ${String(answered.type)}.`);
      return;
    }
    if (isStricter(field.type, answered.type)) {
      const message = `${coordinate} is of type ${String(field.type)}, but may be null in the back end ${this.#backend}: ${String(answered.type)}`;
      const hint = 'Where it is null, clients get an error, and the object around it is null.';
      this.#findings.warning(placeOf(field.astNode, this.#file), message, hint);
    }
    this.#compareType(getNamedType(field.type));
  }

  #compareArguments(coordinate: string, field: Field, answered: Field): void {
    for (const { name, type, astNode } of field.args) {
      const there = answered.args.find((one) => one.name === name);
      if (there !== undefined && isUsable(type, there.type)) {
        this.#compareInput(getNamedType(type), `${coordinate}(${name}:)`, astNode);
        continue;
      }
      const wanted = there === undefined ? 'none of that name' : String(there.type);
      const message = `${coordinate}(${name}: ${String(type)}): the back end ${this.#backend} has ${wanted}`;
      this.#findings.error(
        placeOf(astNode, this.#file),
        message,
        `Its arguments: ${listed(answered.args.map((one) => `${one.name}: ${String(one.type)}`))}.`,
      );
    }
    for (const { name, type, defaultValue } of answered.args) {
      if (!isNonNullType(type) || defaultValue !== undefined) continue;
      if (field.args.some((one) => one.name === name)) continue;
      const message = `${coordinate} lacks the argument ${name}: ${String(type)}, which the back end ${this.#backend} needs`;
      this.#error(field, message, `Write ${field.name}(${name}: ${String(type)}).`);
    }
  }

  /** Compares a type of arguments: each value that is one here has to be one there. */
  #compareInput(
    type: GraphQLNamedType,
    place: string,
    node: Field['astNode'] | GraphQLArgument['astNode'],
  ): void {
    if (this.#compared.has(type)) return;
    this.#compared.add(type);
    const remote = this.#remote.getType(type.name);
    const at = placeOf(node, this.#file);
    if (isEnumType(type) && isEnumType(remote)) {
      const unknown = type.getValues().filter(({ name }) => !remote.getValue(name));
      if (unknown.length === 0) return;
      const message = `${place}: the back end ${this.#backend} lacks ${listed(unknown.map(({ name }) => name))} of ${type.name}`;
      this.#findings.error(at, message, 'A request with such a value is refused.');
    }
    if (!isInputObjectType(type) || !isInputObjectType(remote)) return;
    const [here, there] = [type.getFields(), remote.getFields()];
    for (const [name, field] of Object.entries(here)) {
      const its = there[name];
      if (its !== undefined && isUsable(field.type, its.type)) {
        this.#compareInput(getNamedType(field.type), `${type.name}.${name}`, node);
        continue;
      }
      const got = its === undefined ? 'none of that name' : String(its.type);
      const message = `${place}: ${type.name}.${name} is of type ${String(field.type)}, but the back end ${this.#backend} has ${got}`;
      this.#findings.error(at, message, `Its fields: ${listed(Object.keys(there))}.`);
    }
    for (const [name, its] of Object.entries(there)) {
      if (name in here || !isRequiredInputField(its)) continue;
      const message = `${place}: ${type.name} lacks ${name}: ${String(its.type)}, which the back end ${this.#backend} needs`;
      this.#findings.error(at, message, `Write ${name}: ${String(its.type)}.`);
    }
  }

  /** Compares all that can be asked for of an object that the back end has answered. */
  #compareType(type: GraphQLNamedType): void {
    if (this.#compared.has(type)) return;
    this.#compared.add(type);
    const { schema, entities, definition } = this.#asking;
    const remote = this.#remote.getType(type.name);
    if (remote === undefined) return; // A type of another name has been reported with its field.
    if (isEnumType(type) && isEnumType(remote)) {
      const unknown = remote.getValues().filter(({ name }) => !type.getValue(name));
      if (unknown.length === 0) return;
      const names = listed(unknown.map(({ name }) => name));
      const message = `${type.name} lacks ${names} of the back end ${this.#backend}`;
      const hint = 'A field with such a value is an error for clients.';
      this.#findings.warning(placeOf(type.astNode, this.#file), message, hint);
    }
    if (isAbstractType(type) && isAbstractType(remote)) {
      for (const member of this.#remote.getPossibleTypes(remote)) {
        const here = schema.getType(member.name);
        if (isObjectType(here) && schema.isSubType(type, here)) continue;
        const message = `${type.name} lacks ${member.name}, which is one in the back end ${this.#backend}`;
        const hint = 'An object of that type is an error for clients.';
        this.#findings.warning(placeOf(type.astNode, this.#file), message, hint);
      }
      for (const member of schema.getPossibleTypes(type)) {
        const its = this.#remote.getType(member.name);
        if (isObjectType(its) && this.#remote.isSubType(remote, its)) this.#compareType(member);
        else {
          const message = `${member.name} is no ${type.name} in the back end ${this.#backend}`;
          this.#error(member, message, `A request that selects it in a ${type.name} is refused.`);
        }
      }
    }
    if (!isObjectType(type)) return;
    const entity = entities.types.get(type.name);
    if (isObjectType(remote) && entity?.source !== undefined) {
      // Other back ends are asked for the first key.
      const own = entity.source.backend === this.#backend ? entity.keys : entity.keys.slice(0, 1);
      for (const key of own) this.#compareKey(type, key, remote);
    }
    const isLocal = (name: string, field: string): boolean => hasResolver(definition, name, field);
    for (const field of Object.values(type.getFields())) {
      if (!isAsked(type.name, field.name, this.#backend, entities, isLocal)) continue;
      const isKey = entity?.keys.some((key) => key.some(({ name }) => name === field.name)) === true;
      if (!isKey) this.#compareField(type, field, remote);
    }
  }

  #error(at: Field | GraphQLNamedType, message: string, hint: string): void {
    this.#findings.error(placeOf(at.astNode, this.#file), message, hint);
  }
}

/** Lists and the name of a type, without what may be null. */
function shapeOf(type: GraphQLType): string {
  return String(type).replaceAll('!', '');
}

/** Whether a type that has the same shape allows no null where another does. */
function isStricter(one: GraphQLType, other: GraphQLType): boolean {
  if (isNonNullType(one) && !isNonNullType(other)) return true;
  const [inOne, inOther] = [getNullableType(one), getNullableType(other)];
  return isListType(inOne) && isListType(inOther) && isStricter(inOne.ofType, inOther.ofType);
}

/** Whether any value for an argument here is one for the argument there. */
function isUsable(here: GraphQLInputType, there: GraphQLInputType): boolean {
  const isCompared = isInputObjectType(getNamedType(here)) === isInputObjectType(getNamedType(there));
  return isCompared && shapeOf(here) === shapeOf(there) && !isStricter(there, here);
}
