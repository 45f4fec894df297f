import { GraphQLError } from 'graphql';

/** How graphql-js ends a message with names of the schema that are like the one that came. */
const SUGGESTION = / Did you mean .*$/s;

/** The errors of a document or of variables, without names of the schema that the client has not used itself. */
export function withoutSuggestions(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.map((error) => {
    if (!SUGGESTION.test(error.message)) return error;
    const { message, nodes = null, source = null, positions = null, extensions } = error;
    return new GraphQLError(message.replace(SUGGESTION, ''), { nodes, source, positions, extensions });
  });
}
