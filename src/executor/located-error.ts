import { GraphQLError, type SourceLocation } from 'graphql';

/** Most characters kept of a message, which quotes the document. */
const MAX_MESSAGE = 1_000;

/**
 * An error of a document that keeps only message, locations and extensions. graphql-js's own errors also keep the
 * document's syntax tree and text in memory.
 */
export class LocatedError extends GraphQLError {
  override readonly locations: readonly SourceLocation[] | undefined;

  constructor({
    message,
    locations,
    extensions,
  }: Pick<GraphQLError, 'message' | 'locations' | 'extensions'>) {
    super(message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message, { extensions });
    this.locations = locations;
    // A stack that was never read keeps the objects of its functions in memory: 400 KB of validation.
    this.stack = this.message;
  }
}
