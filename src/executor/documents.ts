import { GraphQLError, Kind, parse, Source, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../errors.ts';
import { LivingDocuments } from './living-documents.ts';
import { Operation } from './operation.ts';
import { rootConditionErrors } from './root-conditions.ts';

interface DocumentLimits {
  /** Number of documents kept. */
  readonly entries: number;
  /** Characters of query text kept, over all documents; the parsed document takes about 80 bytes per character. */
  readonly characters: number;
  /** Maximum number of tokens in one document. */
  readonly tokens: number;
}

/** The operations of a valid document, or at least one error. */
type Prepared =
  | { readonly operations: readonly Operation[]; readonly errors?: never }
  | { readonly operations?: never; readonly errors: readonly GraphQLError[] };

/** Number of invalid documents kept: few, since only a client that repeats its mistake gains from it. */
const INVALID_ENTRIES = 100;

/**
 * Cache of parsed and validated documents by query text; the least recently used is evicted first, but found again for
 * as long as an operation of it is in use. Invalid documents have a cache of their own, so that a flood of them evicts
 * no valid one.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #tokens: number;
  readonly #valid: LRUCache<string, Prepared>;
  readonly #invalid: LRUCache<string, Prepared>;
  readonly #living = new LivingDocuments();

  constructor(schema: GraphQLSchema, limits: DocumentLimits) {
    this.#schema = schema;
    this.#tokens = limits.tokens;
    this.#valid = new LRUCache({
      max: limits.entries,
      maxSize: limits.characters,
      sizeCalculation: (_, query) => query.length + 1,
    });
    this.#invalid = new LRUCache({
      max: INVALID_ENTRIES,
      maxSize: limits.characters,
      sizeCalculation: ({ errors = [] }, query) =>
        errors.reduce((sum, error) => sum + error.message.length, query.length + 1),
    });
  }

  /**
   * Never throws. A document that is too large for the cache is parsed and validated at each call, unless an operation
   * of it is in use.
   */
  get(query: string): Prepared {
    const known = this.#valid.get(query) ?? this.#invalid.get(query);
    if (known !== undefined) return known;
    const operations = this.#living.of(query);
    const prepared = operations === undefined ? this.#prepare(query) : { operations };
    (prepared.errors === undefined ? this.#valid : this.#invalid).set(query, prepared);
    if (operations === undefined && prepared.errors === undefined)
      this.#living.add(query, prepared.operations);
    return prepared;
  }

  #prepare(query: string): Prepared {
    let stage = 'parse';
    try {
      // Validated with locations, which errors report; kept without them, as they take most of a document's memory.
      const located = parse(query, { maxTokens: this.#tokens });
      stage = 'validate';
      const conditions = rootConditionErrors(located);
      const errors = conditions.length > 0 ? conditions : validate(this.#schema, located);
      if (errors.length > 0) return { errors: errors.map((error) => withoutNodes(error, query)) };
      return { operations: operationsOf(query, parse(query, { noLocation: true })) };
    } catch (thrown) {
      if (thrown instanceof GraphQLError) return { errors: [thrown] };
      // A stack overflow by deep nesting, or a bug of graphql-js: only the client that sent this document gets an
      // error.
      return { errors: [new GraphQLError(`The document is too hard to ${stage}: ${messageOf(thrown)}.`)] };
    }
  }
}

function operationsOf(query: string, document: DocumentNode): Operation[] {
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((definition) => new Operation(query, document, definition));
}

/**
 * A copy with the same message and location that does not keep the syntax tree in memory, as a validation error does.
 */
function withoutNodes({ message, nodes, extensions }: GraphQLError, query: string): GraphQLError {
  const positions = (nodes ?? []).flatMap(({ loc }) => (loc === undefined ? [] : [loc.start]));
  if (positions.length === 0) return new GraphQLError(message, { extensions });
  return new GraphQLError(message, { source: new Source(query), positions, extensions });
}
