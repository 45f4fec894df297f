/** What a graph imports from `sluice`. */
export { BackendError } from './context/backend-error.ts';
export { urlPath } from './context/backend-path.ts';
export { primeWith } from './context/primers.ts';
export { defineGraph } from './graph/define-graph.ts';
export { lazy } from './lazy/lazy.ts';
export type { Backend, RequestOptions } from './graph/backend.ts';
export type { BackendDefinition } from './graph/backend-definition.ts';
export type { GraphContext, Loaders, Primer, RequestHead, SharedContext } from './graph/context-types.ts';
export type {
  EnumValues,
  FieldResolver,
  FieldResolvers,
  GraphDefinition,
  Resolvers,
  ScalarCode,
} from './graph/define-graph.ts';
export type { Decode, Event, Headers, JsonValue } from './graph/graph.ts';
