import { GraphQLDirective, GraphQLSchema, isSpecifiedDirective } from 'graphql';
import { isForAuthors } from '../directives/definitions.ts';

/**
 * The schema as clients see it by introspection: without the directives and types that only serve to write it, which
 * generated clients would carry along. Its types are those of `schema`, not copies; graphql-js's own directives are copies,
 * since the schema is frozen, and other libraries of the process change the originals.
 */
export function publicSchema(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  return new GraphQLSchema({
    ...config,
    directives: config.directives
      .filter((directive) => !isForAuthors(directive))
      .map((one) => (isSpecifiedDirective(one) ? new GraphQLDirective(one.toConfig()) : one)),
    types: config.types.filter((type) => !isForAuthors(type)),
  });
}
