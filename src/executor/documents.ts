import { GraphQLError, Kind, parse, Source, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../errors.ts';
import { Operation } from './operation.ts';
import { rootConditionErrors } from './root-conditions.ts';

interface DocumentLimits {
  /** Documents kept. */
  readonly entries: number;
  /** Characters of query text kept, over all documents; what is parsed takes some 80 times as many bytes. */
  readonly characters: number;
  /** Tokens in one document. */
  readonly tokens: number;
}

/** The operations of a document, or what is wrong with it: then there is at least one error. */
type Prepared =
  | { readonly operations: readonly Operation[]; readonly errors?: never }
  | { readonly operations?: never; readonly errors: readonly GraphQLError[] };

/** Faulty documents kept: few, as only a client that repeats its mistake profits. */
const FAULTY_ENTRIES = 100;

/**
 * Parsed and validated documents by query text; the least recently used leave first. Faulty ones are kept apart, so that
 * a flood of them drives out no good one.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #tokens: number;
  readonly #good: LRUCache<string, Prepared>;
  readonly #faulty: LRUCache<string, Prepared>;

  constructor(schema: GraphQLSchema, limits: DocumentLimits) {
    this.#schema = schema;
    this.#tokens = limits.tokens;
    this.#good = new LRUCache({
      max: limits.entries,
      maxSize: limits.characters,
      sizeCalculation: (_, query) => query.length + 1,
    });
    this.#faulty = new LRUCache({
      max: FAULTY_ENTRIES,
      maxSize: limits.characters,
      sizeCalculation: ({ errors = [] }, query) =>
        errors.reduce((sum, error) => sum + error.message.length, query.length + 1),
    });
  }

  /** Never throws. A document that is too large for the cache is prepared anew each time. */
  get(query: string): Prepared {
    const known = this.#good.get(query) ?? this.#faulty.get(query);
    if (known !== undefined) return known;
    const prepared = this.#prepare(query);
    (prepared.errors === undefined ? this.#good : this.#faulty).set(query, prepared);
    return prepared;
  }

  #prepare(query: string): Prepared {
    let doing = 'parse';
    try {
      // Validated with locations, for the messages; kept without them, as they take most of a document's memory.
      const located = parse(query, { maxTokens: this.#tokens });
      doing = 'validate';
      const conditions = rootConditionErrors(located);
      const errors = conditions.length > 0 ? conditions : validate(this.#schema, located);
      if (errors.length > 0) return { errors: errors.map((error) => withoutNodes(error, query)) };
      return { operations: operationsOf(query, parse(query, { noLocation: true })) };
    } catch (thrown) {
      if (thrown instanceof GraphQLError) return { errors: [thrown] };
      // The stack of a document that is nested too deeply, or a fault of graphql-js: either way this document's alone.
      return { errors: [new GraphQLError(`The document is too hard to ${doing}: ${messageOf(thrown)}.`)] };
    }
  }
}

function operationsOf(query: string, document: DocumentNode): Operation[] {
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((definition) => new Operation(query, document, definition));
}

/** The same message at the same place, without the syntax tree that a validation error holds on to. */
function withoutNodes({ message, nodes, extensions }: GraphQLError, query: string): GraphQLError {
  const positions = (nodes ?? []).flatMap(({ loc }) => (loc === undefined ? [] : [loc.start]));
  if (positions.length === 0) return new GraphQLError(message, { extensions });
  return new GraphQLError(message, { source: new Source(query), positions, extensions });
}
