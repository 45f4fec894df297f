import { defaultFieldResolver, execute, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { beginErrors, bounded, boundedTypeResolver } from '../graph/error-budget.ts';
import { isPromise } from './guard.ts';
import type { Operation } from './operation.ts';
import type { ResultErrors } from './result-errors.ts';
import { MAX_ERRORS, type Variables } from './variables.ts';

const fieldResolver = bounded(defaultFieldResolver);
const typeResolver = boundedTypeResolver;

/**
 * Executes an operation with graphql-js; its result is the reference for compiled code. For a subscription, it executes the
 * selection with the event as root value. Never throws, never rejects: failures are in the result's `errors`.
 *
 * @param variableValues as the client sent them
 */
export function interpret(
  schema: GraphQLSchema,
  errors: ResultErrors,
  operation: Operation,
  rootValue: unknown,
  contextValue: unknown,
  variableValues: Variables,
): ExecutionResult | Promise<ExecutionResult> {
  const { document, name } = operation;
  try {
    beginErrors(contextValue);
    const operationName = name ?? null;
    const options = { maxCoercionErrors: MAX_ERRORS };
    const result = execute({
      schema,
      document,
      operationName,
      rootValue,
      contextValue,
      variableValues,
      options,
      fieldResolver,
      typeResolver,
    });
    if (!isPromise(result)) return errors.presented(operation, result, contextValue);
    return result.then(
      (settled) => errors.presented(operation, settled, contextValue),
      (thrown: unknown) => errors.failure(operation, thrown),
    );
  } catch (thrown) {
    return errors.failure(operation, thrown);
  }
}
