import { execute, GraphQLError, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { messageOf } from '../errors.ts';
import { isPromise } from './guard.ts';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

/**
 * Runs an operation by graphql-js: what it answers is right by definition. Of a subscription it runs the selection, with
 * the event as root value. Never throws, never rejects.
 *
 * @param variableValues as they came from the client
 */
export function interpret(
  schema: GraphQLSchema,
  { document, name }: Operation,
  rootValue: unknown,
  contextValue: unknown,
  variableValues: Variables,
): ExecutionResult | Promise<ExecutionResult> {
  try {
    const operationName = name ?? null;
    const result = execute({ schema, document, operationName, rootValue, contextValue, variableValues });
    return isPromise(result) ? result.then(undefined, failed) : result;
  } catch (thrown) {
    return failed(thrown);
  }
}

function failed(thrown: unknown): ExecutionResult {
  return { errors: [new GraphQLError(`The operation can't be executed: ${messageOf(thrown)}`)] };
}
