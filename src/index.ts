/** The public API: what graphs import from `sluice`. */
export { BackendError } from './backends/error.ts';
export { urlPath } from './backends/path.ts';
export { primeWith } from './context/primers.ts';
export { defineGraph } from './graph/api/define-graph.ts';
export { lazy } from './lazy/lazy.ts';
export type { Backend, RequestOptions } from './graph/api/backend.ts';
export type { BackendDefinition } from './graph/api/backend-definition.ts';
export type {
  GraphContext,
  Primer,
  Primers,
  RequestHead,
  ResolverContext,
  SharedContext,
} from './graph/api/context.ts';
export type { GraphTypes } from './graph/api/graph-types.ts';
export type { GraphDefinition } from './graph/api/define-graph.ts';
export type {
  EnumValues,
  FieldResolver,
  FieldResolvers,
  Resolvers,
  ScalarCode,
} from './graph/api/resolvers.ts';
export type { Decode, Event, Headers, JsonValue, KafkaMessage } from './events/event.ts';
