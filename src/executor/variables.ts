import { getVariableValues, type GraphQLError, type GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';

/** Values of variables by name: as the client sent them, or coerced. */
export type Variables = Readonly<Record<string, unknown>>;

/**
 * Most errors reported for one document. Each quotes its value, which may be everything that the client has sent: 50 errors
 * of 64 KB, the default of graphql-js, took 100 ms.
 */
export const MAX_ERRORS = 10;

const NONE: { readonly coerced: Variables } = { coerced: Object.freeze({}) };

/**
 * Coerces variables as `execute` of graphql-js does, but with a lower limit on errors.
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
