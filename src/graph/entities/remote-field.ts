import {
  isAbstractType,
  isCompositeType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isRequiredArgument,
  isObjectType,
  Kind,
  print,
  type ArgumentNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { createHash } from 'node:crypto';
import type { Entities } from './entities.ts';
import type { FieldSet } from './field-set.ts';
import { keyForResolvers, keyOfKeyField, remoteKey } from './remote-answer.ts';

/** Stands around the names of variables in the printed text, in which it is escaped where a text contains it. */
const MARK = '\u0000';

/** The code that fields have here. */
export interface FieldCode {
  /** Whether the field has a resolver of the graph's own. */
  isLocal(type: string, field: string): boolean;
  /** Whether a resolver or a rule of `@auth` reads other fields of the object. */
  readsObject(type: string, field: string): boolean;
}

/** Most combinations of nodes that are kept for a field: a client's conditions may make any number of them. */
const MAX_PLACES = 16;

/** Longer texts are told apart by a hash. */
const LONGEST_IDENTITY = 200;

/** A `@fetched` field as a back end is asked for it, for one place of a client's document. */
export interface RemoteField {
  /** Text of the field without its alias; at odd indexes stand names of the client's variables. */
  readonly parts: readonly string[];
  /** Equal for equal text. */
  readonly identity: string;
}

/** Whether a client's variable has a value. */
type IsGiven = (name: string) => boolean;

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'parentType' | 'schema'>;

/**
 * Makes the selections that back ends are asked for. A back end is asked for all that the client selects below a fetched
 * field, except for
 *
 * - fields that have a resolver here: it is asked for all scalars that the resolver may read,
 * - `@fetched` fields of entities of other back ends: of those entities it is asked for the keys,
 * - fields of entities that are neither fetched nor keys: only events hold them.
 */
export class RemoteFields {
  readonly #entities: Entities;
  readonly #code: FieldCode;
  /** By the first node of a field; the others depend on the client's conditions, and on the type. */
  readonly #known = new WeakMap<FieldNode, KnownField[]>();

  constructor(entities: Entities, code: FieldCode) {
    this.#entities = entities;
    this.#code = code;
  }

  /**
   * @param backend that the entity with the field comes from
   * @param variables coerced; those that are left out take the defaults of arguments
   */
  of(backend: string, info: Info, variables: Readonly<Record<string, unknown>>): RemoteField {
    const [first] = info.fieldNodes;
    if (first === undefined) throw new TypeError('expected a field of a document, got none');
    const known = this.#known.get(first) ?? [];
    this.#known.set(first, known);
    const same = known.find((one) => isSamePlace(one.info, info) && isForVariables(one, variables));
    if (same !== undefined) return same.field;
    const given = new Map<string, boolean>();
    const isGiven = (name: string): boolean => {
      given.set(name, variables[name] !== undefined);
      return variables[name] !== undefined;
    };
    const field = this.#make(backend, first, info, isGiven);
    const { fieldNodes, fragments, parentType, schema } = info;
    if (known.length >= MAX_PLACES) known.shift();
    known.push({ info: { fieldNodes, fragments, parentType, schema }, field, given });
    return field;
  }

  #make(backend: string, first: FieldNode, info: Info, isGiven: IsGiven): RemoteField {
    const { parentType, fieldNodes, schema } = info;
    const type = getNamedType(parentType.getFields()[first.name.value]?.type);
    const selections = fieldNodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
    const { name } = first;
    const args = withDefaults(parentType.getFields()[name.value], first, isGiven);
    const writer = new SelectionWriter(backend, schema, info.fragments, this.#entities, this.#code, isGiven);
    const node: FieldNode = {
      kind: Kind.FIELD,
      name,
      arguments: args,
      ...(isCompositeType(type) && { selectionSet: writer.selectionSet(selections, type) }),
    };
    const parts = partsOf(node);
    const text = parts.join(MARK);
    const isLong = text.length > LONGEST_IDENTITY;
    return { parts, identity: isLong ? createHash('sha256').update(text).digest('base64') : text };
  }
}

interface KnownField {
  readonly info: Info;
  readonly field: RemoteField;
  /** Variables that decide what is written, and whether they had a value. */
  readonly given: ReadonlyMap<string, boolean>;
}

function isForVariables({ given }: KnownField, variables: Readonly<Record<string, unknown>>): boolean {
  for (const [name, isGiven] of given) if ((variables[name] !== undefined) !== isGiven) return false;
  return true;
}

/** The text of a field; at odd indexes stand the names of its variables. */
export function partsOf(node: FieldNode): string[] {
  return print(marked(node)).split(MARK);
}

function isSamePlace(one: Info, other: Info): boolean {
  return (
    one.parentType === other.parentType &&
    one.fieldNodes.length === other.fieldNodes.length &&
    one.fieldNodes.every((node, index) => node === other.fieldNodes[index])
  );
}

/** Puts a mark around each variable's name, and writes texts so that they hold none. */
function marked<T>(node: T): T {
  if (Array.isArray(node)) return node.map((item: unknown) => marked(item)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { kind, name } = node as { kind?: Kind; name?: { value: string } };
  if (kind === Kind.VARIABLE && name !== undefined) {
    return { ...node, name: { ...name, value: MARK + name.value + MARK } };
  }
  if (kind === Kind.STRING) return { ...node, block: false };
  const parts = Object.entries(node).filter(([key]) => key !== 'loc');
  return Object.fromEntries(parts.map(([key, value]) => [key, marked(value)])) as T;
}

class SelectionWriter {
  readonly #backend: string;
  readonly #schema: GraphQLSchema;
  readonly #fragments: GraphQLResolveInfo['fragments'];
  readonly #entities: Entities;
  readonly #code: FieldCode;
  readonly #isGiven: IsGiven;

  constructor(
    backend: string,
    schema: GraphQLSchema,
    fragments: GraphQLResolveInfo['fragments'],
    entities: Entities,
    code: FieldCode,
    isGiven: IsGiven,
  ) {
    this.#isGiven = isGiven;
    this.#backend = backend;
    this.#schema = schema;
    this.#fragments = fragments;
    this.#entities = entities;
    this.#code = code;
  }

  selectionSet(selections: readonly SelectionNode[], type: GraphQLCompositeType): SelectionSetNode {
    return setOf([...this.#own(type), ...this.#selections(selections, type)]);
  }

  #selections(selections: readonly SelectionNode[], type: GraphQLCompositeType): SelectionNode[] {
    return selections.flatMap((selection) => this.#selection(selection, type));
  }

  /** The gateway itself needs the name of an object's type, and the key by which it is fetched elsewhere. */
  #own(type: GraphQLCompositeType): SelectionNode[] {
    if (isObjectType(type)) return this.#keys(type);
    const keyed = this.#schema.getPossibleTypes(type).map((member) => onType(member, this.#keys(member)));
    return [TYPENAME, ...keyed.filter(({ selectionSet }) => selectionSet.selections.length > 0)];
  }

  #keys(type: GraphQLObjectType): SelectionNode[] {
    const entity = this.#entities.types.get(type.name);
    if (entity?.source === undefined || entity.source.backend === this.#backend) return [];
    return keySelections(type.name, entity.keys[0] ?? []);
  }

  #selection(selection: SelectionNode, type: GraphQLCompositeType): SelectionNode[] {
    const directives = conditionsOf(selection.directives);
    if (selection.kind === Kind.FIELD) return this.#field(selection, type);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { typeCondition, selectionSet } = selection;
      return this.#fragment(selectionSet, typeCondition?.name.value ?? type.name, type, directives);
    }
    const fragment = this.#fragments[selection.name.value];
    if (fragment === undefined) return [];
    return this.#fragment(fragment.selectionSet, fragment.typeCondition.name.value, type, directives);
  }

  /** A back end may not have an interface that only this schema needs, so the object types stand in its place. */
  #fragment(
    { selections }: SelectionSetNode,
    name: string,
    parent: GraphQLCompositeType,
    directives: DirectiveNode[],
  ): SelectionNode[] {
    const type = this.#schema.getType(name);
    if (!isCompositeType(type)) return [];
    const isNarrowed = isAbstractType(type) && type !== parent;
    const members = isNarrowed
      ? this.#membersOf(type).filter((one) => this.#membersOf(parent).includes(one))
      : [type];
    return members.map((member) => ({
      ...onType(member, setOf(this.#selections(selections, member)).selections),
      directives,
    }));
  }

  #membersOf(type: GraphQLCompositeType): readonly GraphQLCompositeType[] {
    return isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type];
  }

  /** A field of an interface stands for each type that it is asked of, if it is not asked of all. */
  #field(node: FieldNode, type: GraphQLCompositeType): SelectionNode[] {
    const name = node.name.value;
    if (name === '__typename') return [];
    const members = isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type];
    const forResolvers = members
      .filter((member) => this.#code.readsObject(member.name, name))
      .map((member) => onType(member, this.#forResolvers(member)));
    const asked = members.filter((member) =>
      isAsked(member.name, name, this.#backend, this.#entities, this.#code.isLocal),
    );
    if (asked.length === 0 || !(isInterfaceType(type) || isObjectType(type))) return forResolvers;
    const below = getNamedType(type.getFields()[name]?.type);
    const key = remoteKey(node.alias?.value ?? name);
    const field: FieldNode = {
      kind: Kind.FIELD,
      name: node.name,
      ...(key !== name && { alias: { kind: Kind.NAME, value: key } }),
      arguments: withDefaults(type.getFields()[name], node, this.#isGiven),
      directives: conditionsOf(node.directives),
      ...(isCompositeType(below) && {
        selectionSet: this.selectionSet(node.selectionSet?.selections ?? [], below),
      }),
    };
    if (asked.length === members.length) return [...forResolvers, field];
    return [...forResolvers, ...asked.map((member) => onType(member, [field]))];
  }

  /** A resolver may read any scalar of its object, so all that can be asked for without arguments is. */
  #forResolvers(type: GraphQLObjectType): SelectionNode[] {
    const scalars = Object.values(type.getFields()).filter(
      ({ name, args, type: returned }) =>
        isLeafType(getNamedType(returned)) &&
        !args.some(isRequiredArgument) &&
        isAsked(type.name, name, this.#backend, this.#entities, this.#code.isLocal),
    );
    if (scalars.length === 0) return [TYPENAME];
    return scalars.map(({ name }) => ({
      ...plainField({ name, fields: undefined }),
      alias: { kind: Kind.NAME, value: keyForResolvers(type.name, name) },
    }));
  }
}

/** Whether a back end is asked for a field of an object that it has answered. */
export function isAsked(
  type: string,
  field: string,
  backend: string,
  { types }: Entities,
  isLocal: FieldCode['isLocal'],
): boolean {
  if (isLocal(type, field)) return false;
  const entity = types.get(type);
  if (entity?.source === undefined) return true;
  if (entity.fetched.has(field)) return entity.source.backend === backend;
  return entity.keys.some((key) => key.some(({ name }) => name === field));
}

/** A back end may have another default than this schema, which is what clients read. */
function withDefaults(
  field: GraphQLField<unknown, unknown> | undefined,
  { arguments: written = [] }: FieldNode,
  isGiven: IsGiven,
): ArgumentNode[] {
  const given = written.filter(({ value }) => value.kind !== Kind.VARIABLE || isGiven(value.name.value));
  const left = field?.args.filter(({ name }) => !given.some((one) => one.name.value === name)) ?? [];
  const defaults = left.flatMap(({ name, astNode }): ArgumentNode[] =>
    astNode?.defaultValue === undefined
      ? []
      : [{ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value: astNode.defaultValue }],
  );
  return [...given, ...defaults];
}

function setOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections: selections.length > 0 ? selections : [TYPENAME] };
}

const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/** The fields of a key, under keys of the gateway's own. */
export function keySelections(type: string, fields: FieldSet): FieldNode[] {
  return fields.map(({ name, fields: below }) => ({
    ...plainField({ name, fields: below }),
    alias: { kind: Kind.NAME, value: keyOfKeyField(type, name) },
  }));
}

function plainField({ name, fields }: FieldSet[number]): FieldNode {
  return {
    kind: Kind.FIELD,
    name: { kind: Kind.NAME, value: name },
    ...(fields && { selectionSet: setOf(fields.map(plainField)) }),
  };
}

function conditionsOf(directives: readonly DirectiveNode[] = []): DirectiveNode[] {
  return directives.filter(({ name }) => name.value === 'skip' || name.value === 'include');
}

function onType(type: GraphQLCompositeType, selections: readonly SelectionNode[]): InlineFragmentNode {
  return {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: named(type.name),
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  };
}

function named(name: string): InlineFragmentNode['typeCondition'] & {} {
  return { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } };
}
