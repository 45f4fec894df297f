import type { loaders } from './products.ts';
import type { Resolvers } from './schema.types.ts';

/** Who is connected, by the claims of the token. */
export interface Viewer {
  readonly id: string;
  readonly role: string;
  readonly warehouses: readonly string[];
}

/** The types by which the code of this graph is checked. */
export interface Types {
  Viewer: Viewer;
  Resolvers: Resolvers;
  Events: { Alert: { raised_by: string }; Delivery: { kind: string } };
  Loaders: ReturnType<typeof loaders>;
  Backends: 'inventory';
}
