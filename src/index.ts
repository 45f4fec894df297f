/** The public API: what graphs import from `sluice`. */
export { BackendError } from './backends/error.ts';
export { urlPath } from './backends/path.ts';
export { primeWith } from './context/primers.ts';
export { defineGraph } from './graph/api/define-graph.ts';
export { lazy } from './lazy/lazy.ts';
export type { Backend, RequestOptions } from './graph/api/backend.ts';
export type { BackendDefinition } from './graph/api/backend-definition.ts';
export type { GraphContext, Loaders, Primer, RequestHead, SharedContext } from './graph/api/context.ts';
export type {
  EnumValues,
  FieldResolver,
  FieldResolvers,
  GraphDefinition,
  Resolvers,
  ScalarCode,
} from './graph/api/define-graph.ts';
export type { Decode, Event, Headers, JsonValue, KafkaMessage } from './events/event.ts';
