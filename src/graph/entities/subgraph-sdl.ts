import {
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  Kind,
  parse,
  print,
  printSchema,
  type ConstDirectiveNode,
  type DefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { GATEWAY_SOURCE } from '../diagnostic.ts';
import { hasDirective, type Entities, type Entity } from './entities.ts';
import { printFieldSet } from './field-set.ts';

/** The oldest version of Apollo Federation that has all that is written here. */
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.4", import: ["@key", "@shareable"])';

/**
 * The schema as a router composes it with those of other services, by Apollo Federation:
 *
 * - `@fetched` fields, and types that only they reach, are left out: the router itself asks the services that have them;
 * - types with `@key` can't be fetched here, unless the graph resolves their references;
 * - all other fields are shareable, as the services whose events these are have them, too;
 * - directives are left out, except for `@deprecated` and `@specifiedBy`.
 *
 * @param schema as it was read, with the gateway's directives
 * @param resolvable names of the types whose references the graph resolves
 */
export function subgraphSdl(
  schema: GraphQLSchema,
  entities: Entities,
  resolvable: ReadonlySet<string>,
): string {
  const shown = new ShownFields(schema, entities);
  const definitions = parse(printSchema(schema), { noLocation: true }).definitions.flatMap((definition) =>
    written(definition, shown, entities, resolvable),
  );
  return `${[LINK, ...definitions.map((node) => print(node))].join('\n\n')}\n`;
}

function written(
  definition: DefinitionNode,
  shown: ShownFields,
  { types }: Entities,
  resolvable: ReadonlySet<string>,
): DefinitionNode[] {
  if (definition.kind === Kind.DIRECTIVE_DEFINITION) return [];
  if (!('name' in definition) || definition.name === undefined) return [definition];
  const name = definition.name.value;
  if (!shown.isReached(name)) return [];
  const isInterface = definition.kind === Kind.INTERFACE_TYPE_DEFINITION;
  if (!isInterface && definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return [definition];
  const entity = types.get(name);
  const isRoot = shown.isRoot(name);
  const fields = definition.fields
    ?.filter((field) => shown.has(name, field.name.value))
    .map((field) => {
      const isShared = entity !== undefined && !isKeyField(entity, field.name.value);
      return isShared ? { ...field, directives: [...(field.directives ?? []), SHAREABLE] } : field;
    });
  if (fields?.length === 0) return [];
  const directives =
    entity === undefined ? (isInterface || isRoot ? [] : [SHAREABLE]) : keysOf(entity, resolvable.has(name));
  const interfaces = definition.interfaces?.filter((held) => shown.hasFields(held.name.value));
  return [{ ...definition, directives, ...(interfaces && { interfaces }), ...(fields && { fields }) }];
}

function isKeyField({ keys }: Entity, name: string): boolean {
  return keys.some((key) => key.some((field) => field.name === name));
}

/** The types and fields that other services see. */
class ShownFields {
  readonly #schema: GraphQLSchema;
  readonly #reached = new Set<string>();
  readonly #roots: readonly GraphQLNamedType[];
  /** Fields of interfaces that an implementing type fetches: an interface can't ask for what the type does not have. */
  readonly #fetched = new Set<GraphQLField<unknown, unknown>>();

  constructor(schema: GraphQLSchema, { types }: Entities) {
    this.#schema = schema;
    for (const { type, fetched } of types.values()) {
      for (const field of type.getInterfaces().flatMap((held) => Object.values(held.getFields()))) {
        if (fetched.has(field.name)) this.#fetched.add(field);
      }
    }
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    this.#roots = roots.filter((type) => type != null);
    this.#reach([...this.#roots]);
  }

  isRoot(type: string): boolean {
    return this.#roots.some(({ name }) => name === type);
  }

  isReached(type: string): boolean {
    return this.#reached.has(type);
  }

  hasFields(type: string): boolean {
    return this.#fieldsOf(this.#schema.getType(type)).length > 0;
  }

  has(type: string, field: string): boolean {
    return this.#fieldsOf(this.#schema.getType(type)).some(({ name }) => name === field);
  }

  #reach(waiting: GraphQLNamedType[]): void {
    for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
      if (this.#reached.has(type.name)) continue;
      this.#reached.add(type.name);
      if (isUnionType(type)) waiting.push(...type.getTypes());
      if (isInterfaceType(type)) waiting.push(...this.#schema.getPossibleTypes(type));
      if (isInputObjectType(type)) {
        waiting.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
      }
      if (isObjectType(type) || isInterfaceType(type)) {
        waiting.push(...type.getInterfaces().filter(({ name }) => this.hasFields(name)));
      }
      for (const field of this.#fieldsOf(type)) {
        waiting.push(getNamedType(field.type), ...field.args.map((one) => getNamedType(one.type)));
      }
    }
  }

  #fieldsOf(type: GraphQLNamedType | undefined): GraphQLField<unknown, unknown>[] {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).filter(
      (field) =>
        !hasDirective(field, 'fetched') &&
        !this.#fetched.has(field) &&
        field.astNode?.loc?.source.name !== GATEWAY_SOURCE,
    );
  }
}

function keysOf({ keys }: Entity, isResolvable: boolean): ConstDirectiveNode[] {
  return keys.map((key) => ({
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: 'key' },
    arguments: [
      {
        kind: Kind.ARGUMENT,
        name: { kind: Kind.NAME, value: 'fields' },
        value: { kind: Kind.STRING, value: printFieldSet(key) },
      },
      ...(isResolvable ? [] : [NOT_RESOLVABLE]),
    ],
  }));
}

const SHAREABLE: ConstDirectiveNode = {
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: 'shareable' },
};

const NOT_RESOLVABLE = {
  kind: Kind.ARGUMENT,
  name: { kind: Kind.NAME, value: 'resolvable' },
  value: { kind: Kind.BOOLEAN, value: false },
} as const;
