import assert from 'node:assert/strict';
import { buildSchema, GraphQLError, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { Executor, type ExecutorOptions } from '../../../src/executor/executor.ts';
import { Operation } from '../../../src/executor/operation.ts';
import { ResultErrors } from '../../../src/executor/result-errors.ts';
import { createLog } from '../../../src/log.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';

const log = createLog('silent');

export const SDL = `
  type Query { event: Event, strict: Event! }
  type Mutation { count: Int! }
  type Subscription { event(id: ID, ids: [ID!], first: Int = 5): Event, other: Event }
  type Event { id: ID! title: String event: Event }
`;
export const EVENT = { event: { id: '1', title: 'Lamp' } };

export function executorFor(schema: GraphQLSchema, options: Partial<ExecutorOptions> = {}): Executor {
  return new Executor({ schema, cacheSize: 10, log, ...options });
}

export function newExecutor(options: Partial<ExecutorOptions> = {}): Executor {
  return executorFor(buildSchema(SDL), options);
}

export function prepared(executor: Executor, query: string, name?: string): Operation {
  const operation = executor.prepare(query, name);
  assert.ok(operation instanceof Operation, JSON.stringify(operation));
  return operation;
}

/** An executor of the small schema with resolvers. */
export function executorWith(
  resolvers: Parameters<typeof attachResolvers>[1],
  options: Partial<ExecutorOptions> = {},
): Executor {
  const schema = buildSchema(SDL);
  attachResolvers(schema, resolvers);
  return executorFor(schema, options);
}

/** More often than it takes to compile. */
export const RUNS = 14;

/** Runs an operation so often on an event. @returns the last result */
export function runs(executor: Executor, operation: Operation, count: number): unknown {
  let last: unknown;
  for (let run = 0; run < count; run++) last = executor.execute(operation, EVENT, {}, {});
  return last;
}

export function refused(executor: Executor, query: string, name?: string | null): readonly GraphQLError[] {
  const errors = executor.prepare(query, name);
  assert.ok(!(errors instanceof Operation), 'expected errors, got an operation');
  assert.ok(errors.length > 0, 'expected at least one error');
  assert.ok(errors.every((error) => error instanceof GraphQLError));
  return errors;
}

/** What an executor that masks nothing makes of a result of graphql-js. */
export function unmasked(
  schema: GraphQLSchema,
  operation: Operation,
  result: ExecutionResult,
): ExecutionResult {
  const errors = new ResultErrors({ schema, mask: false, failed: () => undefined, log, now: () => 0 });
  return errors.presented(operation, result, undefined);
}
