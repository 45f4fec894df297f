import { getVariableValues, type GraphQLError, type GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';

/** Values of variables by name: as the client sent them, or coerced. */
export type Variables = Readonly<Record<string, unknown>>;

/** The same as in `execute` of graphql-js. */
const MAX_ERRORS = 50;

const NONE: { readonly coerced: Variables } = { coerced: Object.freeze({}) };

/**
 * Coerces variables as `execute` of graphql-js does.
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
