import {
  getNamedType,
  isLeafType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionSetNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { fragmentsOf, type Fragments } from './fragments.ts';
import { listsOf } from './jit-schema.ts';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

type Fields = ReadonlyMap<string, readonly FieldNode[]>;

/** The part of `info` that a resolver gets for one field: the values that graphql-js would pass. */
interface Site {
  readonly fieldName: string;
  readonly fieldNodes: readonly FieldNode[];
  readonly returnType: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
  /** Names of the types that hold this field and those above it, the root type last: `typename` of `info.path`. */
  readonly typenames: readonly string[];
}

/** Where a selection stands in the flat document. */
interface Position {
  /** Keys from this selection up to the root, joined as graphql-jit does. */
  readonly path: string;
  /** How many of those keys are list indexes. */
  readonly lists: number;
  /** Names of the types that hold the fields above, the root type last. */
  readonly typenames: readonly string[];
}

const ROOT: Position = { path: '', lists: 0, typenames: [] };

/** Says why an operation can't be compiled; graphql-js then executes it. */
export class NotCompilable extends Error {}

/** Inlining fragments may grow a document exponentially: compiling one field takes 10 to 100 µs, its code 1.2 KB. */
const MAX_FIELDS = 300;
const MAX_DEPTH = 32;

/**
 * An operation rewritten for graphql-jit, for one outcome of its conditions: only one fragment for each concrete type, each
 * field once, without arguments, directives and variables. graphql-js itself collects the fields, so compiled code selects
 * the same fields in the same order.
 */
export class FlatOperation {
  readonly document: DocumentNode;
  readonly fragments: Fragments;
  #fields = 0;
  readonly #schema: GraphQLSchema;
  readonly #variables: Variables;
  readonly #sites = new Map<FieldNode, Site>();
  /** Names that graphql-jit composes for its code, and their owners; it would confuse two owners of one name. */
  readonly #names = new Map<string, unknown>();

  /**
   * @param variables coerced; only those that @skip and @include read have an effect
   * @throws NotCompilable
   */
  constructor(schema: GraphQLSchema, { definition, document }: Operation, variables: Variables) {
    this.#schema = schema;
    this.#variables = variables;
    // Resolvers get this and the nodes of each site, in executions for different viewers.
    this.fragments = Object.freeze(fragmentsOf(document));
    const type = schema.getRootType(definition.operation);
    if (type == null) throw new NotCompilable('no root type');
    const fields = collectFields(schema, this.fragments, variables, type, definition.selectionSet);
    this.document = {
      kind: Kind.DOCUMENT,
      definitions: [
        {
          kind: Kind.OPERATION_DEFINITION,
          operation: definition.operation,
          selectionSet: this.#selectionSet(type, fields, ROOT),
        },
      ],
    };
  }

  /** Number of fields, each counted wherever it is selected: time and memory of compilation are proportional to it. */
  get size(): number {
    return this.#fields;
  }

  /** @param node a field of the flat document */
  site(node: FieldNode | undefined): Site | undefined {
    return node && this.#sites.get(node);
  }

  #selectionSet(type: GraphQLObjectType, fields: Fields, position: Position): SelectionSetNode {
    if (type.isTypeOf) throw new NotCompilable(`${type.name} has isTypeOf`);
    if (position.typenames.length > MAX_DEPTH) throw new NotCompilable(`more than ${MAX_DEPTH} levels`);
    const selections: FieldNode[] = [];
    for (const [key, nodes] of fields) selections.push(this.#field(type, key, nodes, position));
    return { kind: Kind.SELECTION_SET, selections };
  }

  #field(
    parentType: GraphQLObjectType,
    key: string,
    fieldNodes: readonly FieldNode[],
    { path, lists, typenames: above }: Position,
  ): FieldNode {
    const fieldName = fieldNodes[0]?.name.value ?? '';
    const names = { name: nameNode(fieldName), alias: nameNode(key) };
    if (++this.#fields > MAX_FIELDS) throw new NotCompilable(`more than ${MAX_FIELDS} fields`);
    // `__proto__`, `constructor` and the like: graphql-jit keeps keys on ordinary objects.
    if (key in Object.prototype) throw new NotCompilable(`a field is called ${key}`);
    if (fieldName === '__typename') return { kind: Kind.FIELD, ...names };
    const field = parentType.getFields()[fieldName];
    if (field === undefined) throw new NotCompilable('introspection');

    // graphql-jit's own names, see #claim.
    let below = path === '' ? key : `${key}_${path}`;
    const typenames = [parentType.name, ...above];
    const site: Site = {
      fieldName,
      fieldNodes: Object.freeze(fieldNodes),
      returnType: field.type,
      parentType,
      typenames,
    };
    this.#claim(`${below}Info`, site);
    this.#claim(`${parentType.name}${fieldName}Resolver`, field);
    let level = lists;
    for (const end = lists + listsOf(field.type); level < end; level++) below = `idx${level}_${below}`;
    if (level > lists) this.#claim(`${below}Info`, site);

    const node: FieldNode = {
      kind: Kind.FIELD,
      ...names,
      ...this.#below(field.type, fieldNodes, { path: below, lists: level, typenames }),
    };
    this.#sites.set(node, site);
    return node;
  }

  #below(
    returnType: GraphQLOutputType,
    nodes: readonly FieldNode[],
    position: Position,
  ): { selectionSet?: SelectionSetNode } {
    const type = getNamedType(returnType);
    if (isLeafType(type)) return {};
    const fieldsOf = (object: GraphQLObjectType): Fields =>
      collectSubfields(this.#schema, this.fragments, this.#variables, object, nodes);
    if (isObjectType(type)) {
      return { selectionSet: this.#selectionSet(type, fieldsOf(type), position) };
    }
    const selections = this.#schema.getPossibleTypes(type).map((object): InlineFragmentNode => {
      return {
        kind: Kind.INLINE_FRAGMENT,
        typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(object.name) },
        selectionSet: this.#selectionSet(object, fieldsOf(object), {
          ...position,
          path: `${object.name}_${position.path}`,
        }),
      };
    });
    return { selectionSet: { kind: Kind.SELECTION_SET, selections } };
  }

  #claim(name: string, owner: unknown): void {
    const known = this.#names.get(name);
    if (known !== undefined && known !== owner) throw new NotCompilable(`two things would be called ${name}`);
    this.#names.set(name, owner);
  }
}

function nameNode(value: string): { kind: Kind.NAME; value: string } {
  return { kind: Kind.NAME, value };
}
