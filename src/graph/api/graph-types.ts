/**
 * The types of one graph, which its author passes to `defineGraph<…>`, `GraphContext<…>` and `SharedContext<…>` as an
 * interface or a literal type. All may be left out; what belongs to one that is left out is not checked.
 */
export interface GraphTypes {
  /** What `authenticate` returns, and `ctx.viewer` is. */
  readonly Viewer?: object;
  /** `Resolvers` as `sluice types`, or `typescript-resolvers` of GraphQL Code Generator, writes them from the schema. */
  readonly Resolvers?: object;
  /** By name of a type: fields that its objects have in events, and the schema does not show or shows otherwise. */
  readonly Events?: object;
  /** What `loaders` returns. */
  readonly Loaders?: object;
  /** What `viewerLoaders` returns. */
  readonly ViewerLoaders?: object;
  /** Names of the back ends: `'listings' | 'people'`. */
  readonly Backends?: string;
  /** What `context` adds to `ctx`. */
  readonly Context?: object;
}

/** The type of that name, or the default where the graph's author has left it out. */
export type TypeOf<Types extends GraphTypes, Name extends keyof GraphTypes, Default> =
  Types extends Readonly<Record<Name, infer Type>> ? NonNullable<Type> : Default;

/** A graph without types of its own: nothing that its code reads is checked. */
export type Untyped = Record<never, never>;

/** By name, values of any type: TypeScript has no other type of which each property can be used without a cast. */
// oxlint-disable-next-line typescript/no-explicit-any -- as said
export type AnyByName = Readonly<Record<string, any>>;
