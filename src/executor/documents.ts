import {
  GraphQLError,
  Kind,
  KnownFragmentNamesRule,
  NoFragmentCyclesRule,
  NoUnusedFragmentsRule,
  parse,
  UniqueFragmentNamesRule,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../errors.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { costError, type CostCheck } from './cost/cost-check.ts';
import { LocatedError } from './located-error.ts';
import { LivingDocuments } from './living-documents.ts';
import { Operation } from './operation.ts';
import { RefusedDocuments } from './refused-documents.ts';
import { rootConditionErrors } from './root-conditions.ts';

interface DocumentLimits {
  /** Number of documents kept. */
  readonly entries: number;
  /** Characters of query text kept, over all documents; the parsed document takes about 80 bytes per character. */
  readonly characters: number;
}

/** The operations of a valid document, or at least one error. */
type Prepared =
  | { readonly operations: readonly Operation[]; readonly errors?: never }
  | { readonly operations?: never; readonly errors: readonly GraphQLError[] };

/** Checked first: the counting after them relies on fragments that are used, have unique names, and have no circles. */
const FRAGMENT_RULES = [
  UniqueFragmentNamesRule,
  KnownFragmentNamesRule,
  NoUnusedFragmentsRule,
  NoFragmentCyclesRule,
];

/** Most errors reported for one document: for each unknown name, graphql-js searches all names for a similar one. */
const MAX_ERRORS = { maxErrors: 10 };

/** graphql-js's error for documents past `maxTokens` has no code. */
const TOO_MANY_TOKENS = /tokens\. Parsing aborted/;

/**
 * Cache of parsed and validated documents by query text; the least recently used is evicted first, but is still found while
 * one of its operations is in use. Refused documents have a cache of their own, so that a flood of them evicts no valid
 * one.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #costs: CostCheck;
  readonly #valid: LRUCache<string, Prepared>;
  readonly #refused = new RefusedDocuments();
  readonly #living = new LivingDocuments();

  constructor(schema: GraphQLSchema, limits: DocumentLimits, costs: CostCheck) {
    this.#schema = schema;
    this.#costs = costs;
    this.#valid = new LRUCache({
      max: limits.entries,
      maxSize: limits.characters,
      sizeCalculation: (_, query) => query.length + 1,
    });
  }

  /**
   * Never throws. A valid document that is too large for the cache is parsed and validated at each call, unless an
   * operation of it is in use.
   */
  get(query: string): Prepared {
    const known = this.#valid.get(query);
    if (known !== undefined) return known;
    const refused = this.#refused.get(query);
    if (refused !== undefined) return { errors: refused };
    const operations = this.#living.of(query);
    const prepared = operations === undefined ? this.#prepare(query) : { operations };
    if (prepared.errors === undefined) {
      this.#valid.set(query, prepared);
      if (operations === undefined) this.#living.add(query, prepared.operations);
      return prepared;
    }
    const errors = prepared.errors.map((error) => new LocatedError(error));
    this.#refused.add(query, errors);
    return { errors };
  }

  #prepare(query: string): Prepared {
    const { tokens } = this.#costs.limits;
    let stage = 'parse';
    try {
      // Validated with locations, for errors; kept without them, as they take most of a document's memory.
      const located = parse(query, { maxTokens: tokens });
      stage = 'validate';
      const errors = this.#errorsOf(located);
      if (errors.length > 0) return { errors };
      return { operations: operationsOf(query, parse(query, { noLocation: true })) };
    } catch (thrown) {
      if (thrown instanceof GraphQLError) {
        return { errors: [TOO_MANY_TOKENS.test(thrown.message) ? costError('tokens', tokens) : thrown] };
      }
      // A stack overflow by deep nesting, or a bug of graphql-js: only the client that sent this document gets an
      // error.
      return { errors: [new GraphQLError(`The document is too hard to ${stage}: ${messageOf(thrown)}.`)] };
    }
  }

  /** Each stage costs more than the one before, and limits the work of the next one. */
  #errorsOf(document: DocumentNode): readonly GraphQLError[] {
    const conditions = rootConditionErrors(document);
    if (conditions.length > 0) return conditions;
    const fragments = validate(this.#schema, document, FRAGMENT_RULES, MAX_ERRORS);
    if (fragments.length > 0) return fragments;
    const tooMuch = this.#costs.ofDocument(document);
    if (tooMuch !== undefined) return [tooMuch];
    return validate(this.#schema, document, undefined, MAX_ERRORS);
  }
}

function operationsOf(query: string, document: DocumentNode): Operation[] {
  // Resolvers get parts of the document as `info`, in executions for different viewers.
  deepFreeze(document);
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map((definition) => new Operation(query, document, definition));
}
