import { getVariableValues, type GraphQLError, type GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';

/** Values of variables: as they came from the client, or coerced. */
export type Variables = Readonly<Record<string, unknown>>;

/** As graphql-js's `execute` has it. */
const MAX_ERRORS = 50;

const NONE: { readonly coerced: Variables } = { coerced: Object.freeze({}) };

/** Exactly as graphql-js does it when it executes. Throws where `raw` is no object. */
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
