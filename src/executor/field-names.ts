import {
  getNamedType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLSchema,
} from 'graphql';
import type { Operation } from './operation.ts';

/**
 * Looks up in the schema the fields that documents select. Names are `Type.field`, so there are no more than the schema has
 * fields. The type is the one from which the document selects the field, possibly an interface.
 */
export class FieldNames {
  readonly #schema: GraphQLSchema;
  /** Names by node of a field. */
  readonly #names = new WeakMap<object, string>();
  readonly #read = new WeakSet<object>();
  readonly #withCustomScalars = new WeakSet<object>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @returns the name of the operation's root type if the node is not one of its fields */
  of(operation: Operation, node: unknown): string {
    this.#readFields(operation);
    return this.#names.get(node as object) ?? this.#rootType(operation);
  }

  /** Whether the document selects values of scalars that GraphQL does not specify: they may serialise to anything. */
  hasCustomScalars(operation: Operation): boolean {
    this.#readFields(operation);
    return this.#withCustomScalars.has(operation.document);
  }

  /** @param field of the operation's root type */
  ofRoot(operation: Operation, field: string): string {
    return `${this.#rootType(operation)}.${field}`;
  }

  #rootType({ kind, definition }: Operation): string {
    return this.#schema.getRootType(definition.operation)?.name ?? kind;
  }

  #readFields({ document }: Operation): void {
    if (this.#read.has(document)) return;
    this.#read.add(document);
    const types = new TypeInfo(this.#schema);
    const names = this.#names;
    const withCustomScalars = this.#withCustomScalars;
    visit(
      document,
      visitWithTypeInfo(types, {
        Field(node) {
          const type = types.getParentType();
          if (type != null) names.set(node, `${type.name}.${node.name.value}`);
          const selected = getNamedType(types.getType());
          if (isScalarType(selected) && !isSpecifiedScalarType(selected)) withCustomScalars.add(document);
        },
      }),
    );
  }
}

/** `Type.field` of all fields that have code. */
export function fieldsWithCode(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type)) return [];
    const fields = Object.values(type.getFields()).filter(({ resolve }) => resolve !== undefined);
    return fields.map(({ name }) => `${type.name}.${name}`);
  });
}
