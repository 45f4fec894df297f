/** A registry's answer with a schema. */
export interface SchemaText {
  readonly type: string;
  readonly text: string;
  /** Schemas that it uses, each behind those that it uses itself; the name is that of the import. */
  readonly references: readonly { readonly name: string; readonly text: string }[];
}
