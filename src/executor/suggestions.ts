import type { GraphQLError } from 'graphql';
import { LocatedError } from './located-error.ts';

/** The end of graphql-js's messages that suggest similar names of the schema. */
const SUGGESTION = / Did you mean .*$/s;

/** The errors of a document or of variables, without names of the schema that the client has not used itself. */
export function withoutSuggestions(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.map((error) => {
    const { message, locations, extensions } = error;
    if (!SUGGESTION.test(message)) return error;
    return new LocatedError({ message: message.replace(SUGGESTION, ''), locations, extensions });
  });
}
