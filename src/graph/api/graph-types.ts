/**
 * The types of one graph, which its author passes to `defineGraph<…>`, `GraphContext<…>` and `SharedContext<…>` as an
 * interface or a literal type. Each may be left out; TypeScript then does not check the code that would use it.
 */
export interface GraphTypes {
  /** The type of `ctx.viewer`, which `authenticate` returns. */
  readonly Viewer?: object;
  /** `Resolvers` as `sluice types`, or `typescript-resolvers` of GraphQL Code Generator, writes them from the schema. */
  readonly Resolvers?: object;
  /** By type name: fields of the type's objects in events that the schema lacks, or shows with another type. */
  readonly Events?: object;
  /** The type of the object that `loaders` returns. */
  readonly Loaders?: object;
  /** The type of the object that `viewerLoaders` returns. */
  readonly ViewerLoaders?: object;
  /** Names of the back ends: `'listings' | 'people'`. */
  readonly Backends?: string;
  /** The type of the properties that `context` adds to `ctx`. */
  readonly Context?: object;
}

/** The type of that name, or the default where the graph's author has left it out. */
export type TypeOf<Types extends GraphTypes, Name extends keyof GraphTypes, Default> =
  Types extends Readonly<Record<Name, infer Type>> ? NonNullable<Type> : Default;

/** A graph without types of its own: nothing that its code reads is checked. */
export type Untyped = Record<never, never>;

/** Values of any type, by name: TypeScript has no other type whose properties can be used without a cast. */
// oxlint-disable-next-line typescript/no-explicit-any -- as said
export type AnyByName = Readonly<Record<string, any>>;
