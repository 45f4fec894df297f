import {
  getIntrospectionQuery,
  GraphQLError,
  Kind,
  parse,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type FieldNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsOf, type Fragments } from '../fragments.ts';
import type { Operation } from '../operation.ts';
import type { Variables } from '../variables.ts';
import { IntrospectionLists } from './introspection-lists.ts';
import { COST_CODES, type CostLimits } from './limits.ts';
import { Sizes, type Size, type SizedList } from './size.ts';
import { numberArguments, Weights, type NumberArgument } from './weights.ts';

/**
 * Counts the steps of graphql-js's rule OverlappingFieldsCanBeMerged for an operation: at each path of the response, the
 * rule compares each pair of fields with one key, and each pair of fragments. (Its own bound is reached after about 0.3 s.)
 */
class Comparisons {
  readonly #fragments: Fragments;
  readonly #limit: number;
  #count = 0;

  constructor(fragments: Fragments, limit: number) {
    this.#fragments = fragments;
    this.#limit = limit;
  }

  /** Past the limit, it is only the count at which counting stopped. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param selectionSets of one path of the response. There are at most as many paths as fields; the caller has to limit
   *   the fields before.
   */
  add(selectionSets: readonly SelectionSetNode[]): void {
    for (const nodes of this.#byKey(selectionSets).values()) {
      if (this.#count > this.#limit) return;
      this.#count += pairs(nodes.size);
      const below = [...nodes].flatMap(({ selectionSet }) => selectionSet ?? []);
      if (below.length > 0) this.add(below);
    }
  }

  /** The fields of one path by response key; each fragment is expanded once. */
  #byKey(selectionSets: readonly SelectionSetNode[]): Map<string, Set<FieldNode>> {
    const fields = new Map<string, Set<FieldNode>>();
    const spread = new Set<string>();
    const waiting: SelectionNode[] = selectionSets.flatMap(({ selections }) => selections);
    for (let selection = waiting.pop(); selection !== undefined; selection = waiting.pop()) {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const nodes = fields.get(key);
        if (nodes === undefined) fields.set(key, new Set([selection]));
        else nodes.add(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        waiting.push(...selection.selectionSet.selections);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        waiting.push(...(this.#fragments[selection.name.value]?.selectionSet.selections ?? []));
      }
    }
    this.#count += spread.size + pairs(spread.size);
    return fields;
  }
}

const pairs = (count: number): number => (count * (count - 1)) / 2;

/** An operation may ask for so many times the introspection of GraphiQL and code generators. */
const INTROSPECTIONS = 2;

const INTROSPECTION_QUERY = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});

/** The texts of messages, by what is counted. */
const COUNTED: Readonly<Record<keyof typeof COST_CODES, string>> = {
  tokens: 'a document of at most # tokens (MAX_TOKENS)',
  fields: 'at most # fields in all operations of a document, fragments expanded (MAX_FIELDS)',
  depth: 'at most # levels of fields (MAX_DEPTH)',
  aliases: 'at most # aliases, fragments expanded (MAX_ALIASES)',
  rootFields: 'at most # root fields (MAX_ROOT_FIELDS)',
  directives: 'at most # directives, fragments expanded (MAX_DIRECTIVES)',
  cost: 'a cost of at most # by @cost and @listSize (MAX_COST)',
  comparisons: 'at most # comparisons of fields and fragments that overlap (MAX_COMPARISONS)',
  introspection: 'introspection of at most # values',
};

/** @param value undefined if it was not counted to its end */
export function costError(what: keyof typeof COST_CODES, limit: number, value?: number): GraphQLError {
  return new GraphQLError(
    `Expected ${COUNTED[what].replace('#', String(limit))}, got ${value === undefined ? 'more' : String(value)}.`,
    { extensions: { code: COST_CODES[what], limit, value: value ?? limit + 1 } },
  );
}

/** Refuses a list without bound. The message names no cost: none follows from what the client has sent. */
function unboundedError({ field, slicing }: SizedList, limit: number): GraphQLError {
  return new GraphQLError(
    `${field} has no bound: expected a number for one of its arguments ${slicing.join(', ')}, got none (@listSize, MAX_COST).`,
    { extensions: { code: COST_CODES.cost, limit, value: Number.MAX_SAFE_INTEGER } },
  );
}

interface Counted extends Size {
  readonly unbounded: SizedList | undefined;
}

/** Counts what operations ask for, and refuses those beyond the limits, before they are validated or executed. */
export class CostCheck {
  readonly limits: CostLimits;
  readonly #schema: GraphQLSchema;
  readonly #weights: Weights;
  readonly #lists: IntrospectionLists;
  #introspection: number | undefined;

  constructor(schema: GraphQLSchema, limits: CostLimits) {
    this.limits = limits;
    this.#schema = schema;
    this.#weights = new Weights(schema);
    this.#lists = new IntrospectionLists(schema);
  }

  /** @param document without circles of fragments, unused fragments, or fragments with the same name */
  ofDocument(document: DocumentNode): GraphQLError | undefined {
    const fragments = fragmentsOf(document);
    const comparisons = new Comparisons(fragments, this.limits.comparisons);
    // Shared, so that a fragment of many operations is counted once. (Nothing here depends on an operation's variables:
    // they are not known yet.)
    const sizes = this.#sizes(fragments, numberArguments(undefined, new Map()));
    let fields = 0;
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const size = sizes.of(definition.selectionSet, this.#schema.getRootType(definition.operation));
      // Summed, as the following steps take time for each field of each operation, though only one is executed.
      fields = Math.min(fields + size.fields, Number.MAX_SAFE_INTEGER);
      const refused = this.#refusal({ ...size, fields, unbounded: sizes.unbounded });
      if (refused !== undefined) return refused;
      comparisons.add([definition.selectionSet]);
      if (comparisons.count > this.limits.comparisons)
        return costError('comparisons', this.limits.comparisons);
    }
    return undefined;
  }

  /** Counts again if variables may give the sizes of lists. */
  ofVariables({ definition, document }: Operation, variables: Variables): GraphQLError | undefined {
    if (!this.#weights.haveSlices || definition.variableDefinitions?.length === 0) return undefined;
    return this.#costly(this.#sizeOf(definition, fragmentsOf(document), variables));
  }

  #costly({ cost, unbounded }: Counted): GraphQLError | undefined {
    const limit = this.limits.cost;
    if (unbounded !== undefined) return unboundedError(unbounded, limit);
    return cost > limit ? costError('cost', limit, cost) : undefined;
  }

  #refusal(size: Counted): GraphQLError | undefined {
    const { limits } = this;
    if (size.width > limits.rootFields) return costError('rootFields', limits.rootFields, size.width);
    for (const what of ['fields', 'depth', 'aliases', 'directives'] as const) {
      if (size[what] > limits[what]) return costError(what, limits[what], size[what]);
    }
    const costly = this.#costly(size);
    if (costly !== undefined || size.introspection === 0) return costly;
    const introspection = (this.#introspection ??= this.#standardIntrospection());
    return size.introspection > introspection
      ? costError('introspection', introspection, Math.ceil(size.introspection))
      : undefined;
  }

  #standardIntrospection(): number {
    const document = parse(INTROSPECTION_QUERY);
    const [definition] = document.definitions;
    if (definition?.kind !== Kind.OPERATION_DEFINITION) return 0;
    return INTROSPECTIONS * Math.ceil(this.#sizeOf(definition, fragmentsOf(document)).introspection);
  }

  #sizeOf(
    { operation, selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
    fragments: Fragments,
    variables?: Variables,
  ): Counted {
    const defaults = new Map<string, number>();
    for (const { variable, defaultValue } of variableDefinitions) {
      if (defaultValue?.kind === Kind.INT) defaults.set(variable.name.value, Number(defaultValue.value));
    }
    const sizes = this.#sizes(fragments, numberArguments(variables, defaults));
    const size = sizes.of(selectionSet, this.#schema.getRootType(operation));
    return { ...size, unbounded: sizes.unbounded };
  }

  #sizes(fragments: Fragments, valueOf: NumberArgument): Sizes {
    return new Sizes(this.#schema, this.#weights, this.#lists, fragments, valueOf);
  }
}
