import { GraphQLError, type ExecutionResult, type GraphQLSchema } from 'graphql';
import type { Log } from '../log.ts';
import { AdaptiveJit } from './adaptive-jit.ts';
import { Documents } from './documents.ts';
import { interpret } from './interpret.ts';
import type { Operation } from './operation.ts';
import { subscriptionField, type SubscriptionField } from './subscription-field.ts';
import type { Variables } from './variables.ts';

export interface ExecutorOptions {
  readonly schema: GraphQLSchema;
  /** Number of parsed and validated documents kept. */
  readonly cacheSize: number;
  /**
   * Characters of query text kept, over all documents; the parsed document takes about 80 bytes per character. Documents
   * whose operations are in use are found again beyond that.
   *
   * @default 1_000_000
   */
  readonly cacheCharacters?: number;
  /**
   * Maximum number of tokens in one document. (graphql-js itself limits the time that validation takes.)
   *
   * @default 4_000
   */
  readonly maxTokens?: number;
  /**
   * Number of fields for which compiled code is kept, over all operations; about 1.2 KB each.
   *
   * @default 50_000
   */
  readonly maxCompiledFields?: number;
  readonly log: Log;
}

/**
 * Prepares and executes GraphQL operations. No method throws or rejects: every failure is returned as GraphQLErrors.
 */
export class Executor {
  readonly #schema: GraphQLSchema;
  readonly #documents: Documents;
  readonly #jit: AdaptiveJit;

  constructor({ schema, cacheSize, log, ...limits }: ExecutorOptions) {
    const { cacheCharacters = 1_000_000, maxTokens = 4_000, maxCompiledFields = 50_000 } = limits;
    this.#schema = schema;
    this.#documents = new Documents(schema, {
      entries: cacheSize,
      characters: cacheCharacters,
      tokens: maxTokens,
    });
    this.#jit = new AdaptiveJit(schema, maxCompiledFields, log);
  }

  /** How often the compiler compiled and refused an operation, and how often compiled code fell back to graphql-js. */
  get counts(): Readonly<{ compiled: number; refused: number; fallback: number }> {
    return this.#jit.counts;
  }

  /**
   * Parses, validates and picks the operation.
   *
   * @param operationName may be left out where the document has one operation
   * @returns the interned operation, or at least one error; errors of syntax and validation have locations
   */
  prepare(query: string, operationName?: string | null): Operation | readonly GraphQLError[] {
    const { operations, errors } = this.#documents.get(query);
    if (errors !== undefined) return errors;
    const [first, second] = operations;
    if (operationName != null) {
      const named = operations.find(({ name }) => name === operationName);
      return named ?? [new GraphQLError(`Unknown operation named "${operationName}".`)];
    }
    if (first === undefined) return [new GraphQLError('Must provide an operation.')];
    if (second === undefined) return first;
    return [new GraphQLError('Must provide operation name if query contains multiple operations.')];
  }

  /**
   * @returns the root field of a subscription and its coerced arguments, or at least one error if they can't be
   * coerced
   */
  subscriptionField(operation: Operation, variables: Variables): SubscriptionField | readonly GraphQLError[] {
    return subscriptionField(this.#schema, operation, variables);
  }

  /**
   * Executes a query, a mutation, or a subscription's selection for one event. Synchronous unless a resolver is
   * asynchronous. After an error, resolvers of queries and subscriptions may be called a second time.
   *
   * @param rootValue for a subscription: the event
   * @param contextValue `ctx` of resolvers
   * @param variables as the client sent them
   */
  execute(
    operation: Operation,
    rootValue: unknown,
    contextValue: unknown,
    variables: Variables,
  ): ExecutionResult | Promise<ExecutionResult> {
    return operation.kind === 'mutation'
      ? interpret(this.#schema, operation, rootValue, contextValue, variables)
      : this.#jit.execute(operation, rootValue, contextValue, variables);
  }
}
