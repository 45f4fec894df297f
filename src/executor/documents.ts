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
  OperationTypeNode,
  type DirectiveNode,
  type SelectionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../errors.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { costError, type CostCheck } from './cost/cost-check.ts';
import { LocatedError } from './located-error.ts';
import { Operation } from './operation.ts';
import { createHash } from 'node:crypto';
import { fragmentsOf, type Fragments } from './fragments.ts';

/** A hash can't be confused with a valid text: no valid document begins with a colon. */
function keyOf(query: string): string {
  if (query.length <= LONGEST_KEY) return query;
  return `:${createHash('sha256').update(query).digest('base64')}`;
}

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

/**
 * The operations of each document with an operation still in use, by query text. Subscribers of a document must find the
 * same operations as earlier subscribers, even if the cache of documents evicted it long ago: groups are distinguished by
 * the identity of their operation.
 *
 * Every operation of a document holds that document, so the document lives for as long as any of them is in use; and its
 * operations are kept for as long as it lives.
 */
export class LivingDocuments {
  readonly #documents = new Map<string, WeakRef<DocumentNode>>();
  readonly #operations = new WeakMap<DocumentNode, readonly Operation[]>();
  readonly #registry = new FinalizationRegistry<string>((query) => {
    // The same text may have been prepared again since.
    if (this.#documents.get(query)?.deref() === undefined) this.#documents.delete(query);
  });

  /** Number of documents, including those that went out of use since the last garbage collection. */
  get size(): number {
    return this.#documents.size;
  }

  of(query: string): readonly Operation[] | undefined {
    const document = this.#documents.get(query)?.deref();
    return document && this.#operations.get(document);
  }

  add(query: string, operations: readonly Operation[]): void {
    const [first] = operations;
    if (first === undefined) return;
    this.#documents.set(query, new WeakRef(first.document));
    this.#operations.set(first.document, operations);
    this.#registry.register(first.document, query);
  }
}

/** Documents kept. A client gains nothing by repeating one bomb; if it varies the bomb, it pays for each variant. */
const ENTRIES = 1_000;
/** Characters kept, over all documents: of short texts and of messages. */
const CHARACTERS = 1_000_000;
/** The size of an error without its message, in characters. */
const PER_ERROR = 500;
/** Longer texts are kept as a hash, so that large documents evict no others. */
const LONGEST_KEY = 200;

/** The errors of documents that have been refused, by query text; the least recently used is evicted first. */
class RefusedDocuments {
  readonly #errors = new LRUCache<string, readonly GraphQLError[]>({
    max: ENTRIES,
    maxSize: CHARACTERS,
    sizeCalculation: (errors, key) =>
      errors.reduce((sum, { message }) => sum + message.length + PER_ERROR, key.length + 1),
  });

  get(query: string): readonly GraphQLError[] | undefined {
    return this.#errors.get(keyOf(query));
  }

  add(query: string, errors: readonly GraphQLError[]): void {
    this.#errors.set(keyOf(query), errors);
  }
}

/**
 * An error for each @skip and @include that decides whether a subscription has its root field: the root field picks the
 * channels, so it must not depend on a condition. (`validate` of graphql-js throws on such a document if the condition
 * is a variable.)
 */
function rootConditionErrors(document: DocumentNode): GraphQLError[] {
  const fragments = fragmentsOf(document);
  const errors: GraphQLError[] = [];
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    if (definition.operation !== OperationTypeNode.SUBSCRIPTION) continue;
    for (const directive of rootConditions(definition.selectionSet.selections, fragments)) {
      errors.push(
        new GraphQLError(
          `Expected the root field of a subscription without conditions, got @${directive.name.value} on it. ` +
            'Put the condition on fields below it, or send another subscription.',
          { nodes: directive },
        ),
      );
    }
  }
  return errors;
}

/** Conditions of all selections at the root, including those in fragments; each fragment is visited once. */
function rootConditions(selections: readonly SelectionNode[], fragments: Fragments): DirectiveNode[] {
  const found: DirectiveNode[] = [];
  const visited = new Set<string>();
  const waiting = [...selections];
  for (let selection = waiting.pop(); selection !== undefined; selection = waiting.pop()) {
    for (const directive of selection.directives ?? []) {
      if (directive.name.value === 'skip' || directive.name.value === 'include') found.push(directive);
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) waiting.push(...selection.selectionSet.selections);
    if (selection.kind === Kind.FRAGMENT_SPREAD && !visited.has(selection.name.value)) {
      visited.add(selection.name.value);
      waiting.push(...(fragments[selection.name.value]?.selectionSet.selections ?? []));
    }
  }
  return found;
}
