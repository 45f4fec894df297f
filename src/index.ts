/** What a graph imports from `sluice`. */
export { defineGraph } from './graph/define-graph.ts';
export type {
  EnumValues,
  FieldResolver,
  FieldResolvers,
  GraphDefinition,
  Resolvers,
  ScalarCode,
} from './graph/define-graph.ts';
export type { Decode, Event, Headers, JsonValue } from './graph/graph.ts';
