import { isObjectType, TypeInfo, visit, visitWithTypeInfo, type GraphQLSchema } from 'graphql';
import type { Operation } from './operation.ts';

/**
 * Names of the schema for the fields of documents, `Type.field`: there are as many as the schema has fields. The type is
 * the one that the document selects the field from, which may be an interface.
 */
export class FieldNames {
  readonly #schema: GraphQLSchema;
  /** By node of a field; and documents that have been read. */
  readonly #names = new WeakMap<object, string>();
  readonly #read = new WeakSet<object>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @returns the name of the operation's root type for what is no field of it */
  of(operation: Operation, node: unknown): string {
    this.#readFields(operation);
    return this.#names.get(node as object) ?? this.#rootType(operation);
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
    visit(
      document,
      visitWithTypeInfo(types, {
        Field(node) {
          const type = types.getParentType();
          if (type != null) names.set(node, `${type.name}.${node.name.value}`);
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
