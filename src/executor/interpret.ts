import { execute, GraphQLError, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { messageOf } from '../errors.ts';
import { withFrozenHints } from './frozen-hint.ts';
import { isPromise } from './guard.ts';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

/**
 * Executes an operation with graphql-js, whose result is the reference for compiled code. Of a subscription it executes
 * the selection, with the event as root value. Never throws, never rejects: failures are in the result's `errors`.
 *
 * @param variableValues as the client sent them
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
    return isPromise(result) ? result.then(withFrozenHints, failed) : withFrozenHints(result);
  } catch (thrown) {
    return failed(thrown);
  }
}

function failed(thrown: unknown): ExecutionResult {
  return { errors: [new GraphQLError(`The operation can't be executed: ${messageOf(thrown)}`)] };
}
