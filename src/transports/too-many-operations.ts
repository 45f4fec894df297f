import { GraphQLError } from 'graphql';

/** @param most operations of one connection at the same time */
export function tooManyOperations(most: number): GraphQLError {
  const message = `expected at most ${most} operations at once on a connection, got another one`;
  return new GraphQLError(message, { extensions: { code: 'TOO_MANY_OPERATIONS' } });
}
