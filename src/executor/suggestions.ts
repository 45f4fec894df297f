import type { GraphQLError } from 'graphql';
import { LocatedError } from './located-error.ts';

/** How graphql-js ends a message with names of the schema that are like the one that came. */
const SUGGESTION = / Did you mean .*$/s;

/** The errors of a document or of variables, without names of the schema that the client has not used itself. */
export function withoutSuggestions(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.map((error) => {
    const { message, locations, extensions } = error;
    if (!SUGGESTION.test(message)) return error;
    return new LocatedError({ message: message.replace(SUGGESTION, ''), locations, extensions });
  });
}
