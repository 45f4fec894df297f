import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  type DirectiveNode,
  type DocumentNode,
  type SelectionNode,
} from 'graphql';
import { fragmentsOf, type Fragments } from './fragments.ts';

/**
 * An error for each @skip and @include that decides whether a subscription has its root field: the root field picks the
 * channels, so it must not depend on a condition. (`validate` of graphql-js throws on such a document if the condition
 * is a variable.)
 */
export function rootConditionErrors(document: DocumentNode): GraphQLError[] {
  const fragments = fragmentsOf(document);
  const errors: GraphQLError[] = [];
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    if (definition.operation !== OperationTypeNode.SUBSCRIPTION) continue;
    for (const directive of rootConditions(definition.selectionSet.selections, fragments)) {
      errors.push(
        new GraphQLError(
          `Expected the root field of a subscription without conditions, got @${directive.name.value} on it. ` +
            'Put the condition on fields below it, or send another subscription.',
          { nodes: directive },
        ),
      );
    }
  }
  return errors;
}

/** Conditions of all selections at the root, including those in fragments; each fragment is visited once. */
function rootConditions(selections: readonly SelectionNode[], fragments: Fragments): DirectiveNode[] {
  const found: DirectiveNode[] = [];
  const visited = new Set<string>();
  const waiting = [...selections];
  for (let selection = waiting.pop(); selection !== undefined; selection = waiting.pop()) {
    for (const directive of selection.directives ?? []) {
      if (directive.name.value === 'skip' || directive.name.value === 'include') found.push(directive);
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) waiting.push(...selection.selectionSet.selections);
    if (selection.kind === Kind.FRAGMENT_SPREAD && !visited.has(selection.name.value)) {
      visited.add(selection.name.value);
      waiting.push(...(fragments[selection.name.value]?.selectionSet.selections ?? []));
    }
  }
  return found;
}
