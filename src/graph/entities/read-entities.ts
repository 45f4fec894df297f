import {
  getArgumentValues,
  getNamedType,
  GraphQLError,
  isCompositeType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isIntrospectionType,
  Kind,
  parse,
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import { isList } from '../event-type.ts';
import {
  directivesOf,
  hasDirective,
  type Entities,
  type Entity,
  type EntitySource,
  type Lookup,
  type Reference,
} from './entities.ts';
import { leavesOf, readFieldSet, type FieldSet } from './field-set.ts';
import { partsOf } from './remote-field.ts';

type Field = GraphQLField<unknown, unknown>;

/** A day. */
const MAX_TTL_SECONDS = 86_400;

const KEY_HINT = 'Write @key(fields: "id"), or @key(fields: "id organization { id }").';

/** Reads `@key`, `@entity`, `@fetched` and `@reference`, and compares them with the schema and with the graph's code. */
export function readEntities(
  schema: GraphQLSchema,
  definition: GraphDefinition,
  file: string,
  findings: Findings,
): Entities {
  return new EntityReader(schema, definition, file, findings).read();
}

class EntityReader {
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

  read(): Entities {
    const types = new Map<string, Entity>();
    const all = Object.values(this.#schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
    for (const type of all) {
      const entity = isObjectType(type) ? this.#entity(type) : undefined;
      if (entity !== undefined) types.set(type.name, entity);
    }
    const references = new Map<Field, Reference>();
    for (const type of all) {
      if (!isObjectType(type) && !isInterfaceType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        this.#checkFetched(type, field, types.get(type.name));
        const reference = this.#reference(type.name, field, types);
        if (reference !== undefined) references.set(field, reference);
      }
    }
    this.#warnOfNonNull(types, references);
    return { types, references };
  }

  /** An entity that an event only names has no fields that only events hold. */
  #warnOfNonNull(types: ReadonlyMap<string, Entity>, references: ReadonlyMap<Field, Reference>): void {
    for (const { type, keys, source, fetched } of types.values()) {
      const naming = [...references.keys()].find((field) => getNamedType(field.type) === type);
      if (source === undefined || naming === undefined) continue;
      for (const field of Object.values(type.getFields())) {
        const isHeld = keys.some((key) => key.some(({ name }) => name === field.name));
        if (isHeld || fetched.has(field.name) || !isNonNullType(field.type)) continue;
        if (hasResolver(this.#definition, type.name, field.name) || hasDirective(field, 'reference'))
          continue;
        this.#findings.warning(
          placeOf(field.astNode, this.#file),
          `${type.name}.${field.name} can't be null, but only events hold it`,
          `Objects that @reference makes of a key do not have it (${naming.name}): let it be null, or write @fetched.`,
        );
      }
    }
  }

  #entity(type: GraphQLObjectType): Entity | undefined {
    const keys = directivesOf(type, 'key')
      .map((node) => this.#key(type, node))
      .filter((key) => key !== undefined);
    const [node] = directivesOf(type, 'entity');
    const fetched = Object.values(type.getFields()).filter((field) => hasDirective(field, 'fetched'));
    if (node === undefined) {
      return keys.length === 0
        ? undefined
        : { type, keys, source: undefined, fetched: new Set(fetched.map(({ name }) => name)) };
    }
    if (directivesOf(type, 'key').length === 0) {
      this.#error(node, `${type.name} has @entity, but no @key by which it could be fetched`, KEY_HINT);
    }
    const source = this.#source(type, node, keys);
    if (fetched.length === 0) {
      const message = `${type.name} has @entity, but no field with @fetched`;
      this.#error(node, message, `Write @fetched behind the fields that the back end has.`);
    }
    if (keys.length === 0) return undefined;
    return { type, keys, source, fetched: new Set(fetched.map(({ name }) => name)) };
  }

  #key(type: GraphQLObjectType, node: ConstDirectiveNode): FieldSet | undefined {
    const values = this.#values(node);
    if (values === undefined) return undefined;
    try {
      const key = readFieldSet(String(values['fields']));
      this.#checkKey(type, key, node);
      return key;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      this.#error(node, `@key: ${error.message}`, KEY_HINT);
      return undefined;
    }
  }

  #checkKey(type: GraphQLNamedType, key: FieldSet, node: ConstDirectiveNode): void {
    for (const { name, fields } of key) {
      const field = isObjectType(type) ? type.getFields()[name] : undefined;
      if (field === undefined) {
        const known = isObjectType(type) ? listed(Object.keys(type.getFields())) : 'none';
        this.#error(node, `@key: ${type.name} has no field "${name}"`, `Its fields: ${known}.`);
        continue;
      }
      const below = getNamedType(field.type);
      if (hasResolver(this.#definition, type.name, name)) {
        const message = `@key: ${type.name}.${name} has a resolver, but the key is read from the event`;
        this.#error(node, message, 'Leave the resolver out, or name a field of the event.');
      } else if (hasDirective(field, 'fetched')) {
        const message = `@key: ${type.name}.${name} is fetched by the key, so it can't be part of it`;
        this.#error(node, message, 'A key consists of fields that events hold.');
      } else if (isList(field.type) || isCompositeType(below) !== (fields !== undefined)) {
        const message = `@key: ${type.name}.${name} is of type ${field.type.toString()}`;
        this.#error(node, message, 'A key consists of scalars, also within objects: "organization { id }".');
      } else if (fields !== undefined) this.#checkKey(below, fields, node);
    }
  }

  #source(
    type: GraphQLObjectType,
    node: ConstDirectiveNode,
    [key = []]: readonly FieldSet[],
  ): EntitySource | undefined {
    const values = this.#values(node);
    if (values === undefined) return undefined;
    const backend = String(values['backend']);
    const known = Object.keys(this.#definition.backends ?? {});
    if (!known.includes(backend)) {
      const message = `@entity on ${type.name}: the graph has no back end "${backend}"`;
      const hint = `Back ends of graph.ts: ${listed(known)}. Its URL is that of the GraphQL server.`;
      this.#error(node, message, hint);
    }
    const seconds = values['ttl_seconds'] ?? 0;
    if (seconds !== 0 && !(Number(seconds) >= 1 && Number(seconds) <= MAX_TTL_SECONDS)) {
      const message = `@entity on ${type.name}: expected ttl_seconds from 1 to ${MAX_TTL_SECONDS}, got ${String(seconds)}`;
      this.#error(node, message, 'Leave it out, and each event asks anew.');
    }
    const ttlMs = Number(seconds) * 1_000;
    const text = values['lookup'];
    if (typeof text !== 'string') return { backend, lookup: undefined, ttlMs };
    const read = readLookup(text);
    const types = new Map(
      key.flatMap(({ name, fields }) =>
        fields === undefined ? [[name, String(type.getFields()[name]?.type)] as const] : [],
      ),
    );
    const unknown = read?.parts.filter((name, index) => index % 2 === 1 && !types.has(name)) ?? [];
    if (read === undefined || read.parts.length < 2 || unknown.length > 0) {
      const got = unknown.length > 0 ? `$${unknown.join(', $')} in "${text}"` : `"${text}"`;
      const message = `@entity on ${type.name}: expected a query field with its arguments as lookup, got ${got}`;
      const hint = `Write lookup: "product(upc: $upc)"; variables are fields of the first key: ${listed([...types.keys()])}.`;
      this.#error(node, message, hint);
      return undefined;
    }
    return { backend, lookup: { ...read, variables: types }, ttlMs };
  }

  #checkFetched(type: GraphQLNamedType, field: Field, entity: Entity | undefined): void {
    if (!hasDirective(field, 'fetched')) return;
    const coordinate = `${type.name}.${field.name}`;
    const [node] = directivesOf(field, 'fetched');
    if (entity?.source === undefined && directivesOf(type, 'entity').length === 0) {
      const message = `${coordinate} has @fetched, but ${type.name} has no @entity that names its back end`;
      this.#error(node, message, `Write type ${type.name} @key(fields: "id") @entity(backend: "…").`);
    }
    if (hasDirective(field, 'reference')) {
      const message = `${coordinate} has both @fetched and @reference`;
      this.#error(node, message, 'It is either fetched, or made of what the event holds.');
    }
    if (!hasResolver(this.#definition, type.name, field.name)) return;
    const message = `${coordinate} has @fetched, and a resolver`;
    this.#error(node, message, 'Leave one of them out: the resolver would hide what is fetched.');
  }

  #reference(type: string, field: Field, types: ReadonlyMap<string, Entity>): Reference | undefined {
    const [node] = directivesOf(field, 'reference');
    if (node === undefined) return undefined;
    const values = this.#values(node);
    const entity = types.get(getNamedType(field.type).name);
    const coordinate = `${type}.${field.name}`;
    if (entity === undefined) {
      const message = `@reference on ${coordinate}: ${getNamedType(field.type).name} is no object type with @key`;
      this.#error(node, message, KEY_HINT);
      return undefined;
    }
    if (values === undefined) return undefined;
    const leaves = leavesOf(entity.keys[0] ?? []);
    let paths: string[][];
    try {
      paths = leavesOf(readFieldSet(String(values['fields'])));
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      this.#error(node, `@reference: ${error.message}`, 'Write @reference(fields: "product_id").');
      return undefined;
    }
    if (paths.length !== leaves.length || (isList(field.type) && leaves.length > 1)) {
      const wanted = isList(field.type) ? 'one field, which holds a list of keys' : `${leaves.length}`;
      const message = `@reference on ${coordinate}: expected ${wanted}, got ${paths.length}`;
      const names = leaves.map((path) => path.join('.'));
      const hint = `The key of ${entity.type.name} is ${listed(names)}; name the event's fields that hold it, in the same order.`;
      this.#error(node, message, hint);
      return undefined;
    }
    return { paths };
  }

  #values(node: ConstDirectiveNode): Readonly<Record<string, unknown>> | undefined {
    const directive = this.#schema.getDirective(node.name.value);
    // A missing or wrong argument has been reported with the schema.
    return directive ? getArgumentValues(directive, node) : undefined;
  }

  #error(node: ConstDirectiveNode | undefined, message: string, hint: string): void {
    this.#findings.error(placeOf(node, this.#file), message, hint);
  }
}

/** @returns undefined if the text is something else than a query field with arguments */
function readLookup(text: string): Pick<Lookup, 'field' | 'parts'> | undefined {
  try {
    const document = parse(`{ ${text} }`);
    const [definition] = document.definitions;
    if (document.definitions.length !== 1 || definition?.kind !== Kind.OPERATION_DEFINITION) return undefined;
    const [field, second] = definition.selectionSet.selections;
    if (second !== undefined || field?.kind !== Kind.FIELD || field.selectionSet !== undefined || field.alias)
      return undefined;
    return { field: field.name.value, parts: partsOf(field) };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return undefined;
  }
}
