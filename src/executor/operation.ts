import type { DocumentNode, OperationDefinitionNode, OperationTypeNode } from 'graphql';

/**
 * One operation of one document. Interned: the same query text and operation name give the same object for as long as
 * the document is cached or any operation of it is in use, so operations can be compared by identity.
 */
export class Operation {
  /** The interned text of the whole document; callers keep this string instead of their own copy. */
  readonly query: string;
  /** The name as written in the document. */
  readonly name: string | undefined;
  readonly kind: `${OperationTypeNode}`;
  /** Validated, without locations, deep-frozen: all executions share it. */
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  /** Names of the declared variables, in order of declaration. */
  readonly variableNames: readonly string[];

  constructor(query: string, document: DocumentNode, definition: OperationDefinitionNode) {
    this.query = query;
    this.name = definition.name?.value;
    this.kind = definition.operation;
    this.document = document;
    this.definition = definition;
    this.variableNames = (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  }
}
