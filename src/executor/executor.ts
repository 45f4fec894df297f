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
  /** Documents kept, parsed and validated. */
  readonly cacheSize: number;
  /** Characters of query text kept, over all documents; what is parsed takes some 80 times as many bytes. */
  readonly cacheCharacters?: number;
  /** Tokens that one document may have. (The time that validation takes, graphql-js limits itself.) */
  readonly maxTokens?: number;
  /** Fields for which compiled code is kept, over all operations; about 1.2 KB each. */
  readonly maxCompiledFields?: number;
  readonly log: Log;
}

/** Prepares and runs GraphQL operations. Whatever is wrong with one is in its errors; no method throws or rejects. */
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

  /** Operations compiled so far, refused by the compiler, and run again by graphql-js after compiled code failed. */
  get counts(): Readonly<{ compiled: number; refused: number; rerun: number }> {
    return this.#jit.counts;
  }

  /**
   * Parses, validates and picks the operation.
   *
   * @param operationName may be left out where the document has one operation
   * @returns the interned operation, or at least one error; those of syntax and validation have locations
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

  /** The root field of a subscription and its coerced arguments; errors for what doesn't coerce. */
  subscriptionField(operation: Operation, variables: Variables): SubscriptionField | readonly GraphQLError[] {
    return subscriptionField(this.#schema, operation, variables);
  }

  /**
   * Runs a query, a mutation, or a subscription's selection for one event. Synchronous unless a resolver is asynchronous.
   * Where something goes wrong, resolvers of queries and subscriptions may be called a second time.
   *
   * @param rootValue of a subscription: the event
   * @param variables as they came from the client
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
