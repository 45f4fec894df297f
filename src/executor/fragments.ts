import { Kind, type DocumentNode, type FragmentDefinitionNode } from 'graphql';

/** By name, on an object without prototype: clients choose the names. */
export type Fragments = Record<string, FragmentDefinitionNode>;

export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments: Fragments = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}
