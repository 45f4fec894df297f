import { getVariableValues, type GraphQLError, type GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';

/** Values of variables by name: as the client sent them, or coerced. */
export type Variables = Readonly<Record<string, unknown>>;

/**
 * The errors that are reported of one document. Each quotes the value that it is about, which may be all that the client has sent:
 * 50 errors of 64 KB, the default of graphql-js, took 100 ms.
 */
export const MAX_ERRORS = 10;

const NONE: { readonly coerced: Variables } = { coerced: Object.freeze({}) };

/**
 * Coerces variables as `execute` of graphql-js does, with fewer errors at most.
 *
 * @throws if `raw` is no object
 */
export function coerceVariables(
  schema: GraphQLSchema,
  { definition, variableNames }: Operation,
  raw: Variables,
):
  | { readonly coerced: Variables; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: never } {
  if (variableNames.length === 0) return NONE;
  return getVariableValues(schema, definition.variableDefinitions ?? [], raw, { maxErrors: MAX_ERRORS });
}
