import { GraphQLError, type SourceLocation } from 'graphql';

/** Characters kept of a message, which quotes the document. */
const MAX_MESSAGE = 1_000;

/**
 * An error of a document that keeps neither its syntax tree nor its text in memory, as those of graphql-js do, but its
 * message, locations and extensions.
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
    // The frames of a stack that has not been read hold what their functions do: 400 KB of validation.
    this.stack = this.message;
  }
}
