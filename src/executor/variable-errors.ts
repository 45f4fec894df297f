import {
  getLocation,
  Kind,
  parse,
  type GraphQLError,
  type OperationDefinitionNode,
  type SourceLocation,
} from 'graphql';
import { LocatedError } from './located-error.ts';
import type { Operation } from './operation.ts';

/** Adds to errors of variables where these are declared, as graphql-js does: documents are kept without locations. */
export class VariableErrors {
  /** By operation, in order of declaration: a document is parsed once for all its wrong variables. */
  readonly #locations = new WeakMap<Operation, readonly (SourceLocation | undefined)[]>();

  /** @returns the errors in the same order; errors that are not about a variable stay unchanged */
  located(operation: Operation, errors: readonly GraphQLError[]): readonly GraphQLError[] {
    const nodes: readonly unknown[] = operation.definition.variableDefinitions ?? [];
    return errors.map((error) => {
      const index = nodes.indexOf(error.nodes?.[0]);
      if (index === -1) return error;
      const { message, extensions } = error;
      const location = this.#locationsOf(operation)[index];
      return new LocatedError({ message, extensions, locations: location && [location] });
    });
  }

  #locationsOf(operation: Operation): readonly (SourceLocation | undefined)[] {
    let locations = this.#locations.get(operation);
    if (locations === undefined) {
      locations = locationsIn(operation);
      this.#locations.set(operation, locations);
    }
    return locations;
  }
}

function locationsIn({ query, name }: Operation): (SourceLocation | undefined)[] {
  const definition = parse(query).definitions.find(
    (candidate): candidate is OperationDefinitionNode =>
      candidate.kind === Kind.OPERATION_DEFINITION && candidate.name?.value === name,
  );
  const declared = definition?.variableDefinitions ?? [];
  return declared.map(({ loc }) => loc && getLocation(loc.source, loc.start));
}
