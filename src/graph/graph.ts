import type { GraphQLSchema } from 'graphql';
import type { Decode, Event, KeyStyle } from '../events/event.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';

/** What ingest must know of one Kafka topic, put together from all fields that are bound to it. */
export interface Topic {
  readonly name: string;
  readonly keyStyle: KeyStyle;
  /** Event fields by which the topic's events are routed, each once. */
  readonly keys: readonly string[];
  /** The only one of them, if the Kafka key of each message holds its value as text; undefined: the event has to be asked. */
  readonly kafkaKey: string | undefined;
  readonly decode: Decode | undefined;
}

/** Coerced arguments of a subscription field. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A filter with its arguments put in. */
export interface EventFilter {
  /** What it looks at in a viewer: those who agree on it get the same answer. */
  readonly reads: ReadSet;
  passes(event: Event, viewer: Json): boolean;
}

/** One subscription field and the topic it shows. */
export interface Binding {
  readonly field: string;
  readonly topic: string;
  /** The event field, and the argument of the same name, that picks the channel; undefined: always the whole topic. */
  readonly key: string | undefined;
  /** A value of the key argument, coerced, as events hold it. */
  readonly keyForm: (value: unknown) => unknown;
  /** Undefined where the field has no `@filter`, or where the arguments leave nothing of it. */
  readonly filter: ((args: Arguments) => EventFilter | undefined) | undefined;
  /** False: `sharing: NEVER`. Each subscriber's result is executed for it alone. */
  readonly shares: boolean;
}

/** A loaded graph: what the rest of the gateway works with. */
export interface Graph {
  /** Absolute path. */
  readonly folder: string;
  readonly schema: GraphQLSchema;
  /** By subscription field. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** By topic name. */
  readonly topics: ReadonlyMap<string, Topic>;
  /** Events are shared between executions: frozen where code of the graph could change them. */
  readonly hasResolvers: boolean;
}
