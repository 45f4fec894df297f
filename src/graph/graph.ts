import type { Comparisons } from '../events/compared.ts';
import type { GraphQLError, GraphQLSchema } from 'graphql';
import type { Decode, Event, KeyStyle } from '../events/event.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import type { Decoder } from '../formats/decoder.ts';
import type { Shape } from '../formats/shape.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';
import type { Terms } from './terms.ts';

export type FormatName = 'JSON' | 'AVRO' | 'PROTOBUF' | 'JSON_SCHEMA';

/** `DEBEZIUM`: a change of a row. `CLOUDEVENTS`: an event with attributes, in headers or around its data. */
export type EnvelopeName = 'NONE' | 'DEBEZIUM' | 'CLOUDEVENTS';

export type MetadataName = 'TIMESTAMP' | 'OFFSET' | 'PARTITION' | 'TOPIC';

/** Where in a message the value of a field is. */
export type FieldSource =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'key' }
  /** In the whole value, with its envelope: names separated by dots. */
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'metadata'; readonly name: MetadataName };

/**
 * A stream is what subscribers of a field get: the events of one Kafka topic, or of several. Channels, positions and cursors
 * belong to streams. Events of one partition are in the order of its log.
 */
export interface Stream {
  /** The name of its only topic; see `streamOf` for several. */
  readonly name: string;
  /** Undefined: the bus keeps nothing. */
  readonly history?: HistorySettings | undefined;
}

/** One Kafka topic as ingest needs it, or all that match a pattern, combined from all fields that name it alike. */
export interface Topic {
  /** As the schema has it: see `topicNamed` for the topics of Kafka. */
  readonly name: string;
  /** Undefined: it is the topic of that name. */
  readonly pattern?: RegExp | undefined;
  /** The streams that it is part of, each once. */
  readonly streams: readonly Stream[];
  readonly keyStyle: KeyStyle;
  /** Event fields by which the topic's events are routed, each once: names, or paths like `customer.customer_id`. */
  readonly keys: readonly string[];
  /**
   * The only one of `keys`, if the Kafka key of each message holds its value as text; undefined: ingest reads keys from
   * the event.
   */
  readonly kafkaKey: string | undefined;
  readonly decode: Decode | undefined;
  /** How values are encoded, if the graph has no code that decodes them. Absent: JSON. */
  readonly format?: FormatName;
  /** Decodes values by a schema of the graph's folder. Absent: each message names its schema, which the registry has. */
  readonly decodeValue?: Decoder | undefined;
  /** How Kafka keys are encoded. Absent: as text. */
  readonly keyFormat?: FormatName | undefined;
  readonly decodeKey?: Decoder | undefined;
  /** What messages have around their events. Absent: nothing. */
  readonly envelope?: EnvelopeName;
  /** Fields of events that come from elsewhere in the message, by name. Absent: none. */
  readonly from?: ReadonlyMap<string, FieldSource>;
  /** What the schema says of the events. Absent: nothing. */
  readonly shape?: Shape | undefined;
}

/** Coerced arguments of a subscription field. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The filter of one subscription, with its arguments inserted. */
export interface EventFilter {
  /** The viewer values that the filter reads: viewers that agree on them get the same result. */
  readonly reads: ReadSet;
  passes(event: Event, viewer: Json): boolean;
  /** The most that one call of `passes` costs. */
  readonly cost: FilterCost;
  /** Lets events be matched with thousands of filters at once. Absent: no single comparison decides. */
  readonly requires?: Requirement | undefined;
  /** The comparisons with their values, for people. */
  compared?(event: Event, viewer: Json): Comparisons;
}

/** A comparison that must hold for a filter to let an event through, for any viewer; the filter may ask for more. */
export interface Requirement {
  /** Where the event has the value that is compared. */
  readonly path: readonly string[];
  /** `in`: the value is one of the operands. `gt` to `lte`: value and only operand are both numbers or both texts. */
  readonly operator: 'in' | 'gt' | 'gte' | 'lt' | 'lte';
  /** The operands as events contain them. */
  readonly operands: readonly unknown[];
}

/** How much a filter has to do for one event. */
export interface FilterCost {
  /** Comparisons of two values; looking up a value among many by its hash counts as one. */
  readonly comparisons: number;
  /** Comparisons that look through a value of the event, which may be as large as the event. */
  readonly scans: number;
}

/** The `@auth` rules of one subscription, with its arguments inserted. */
export interface SubscriptionAccess {
  /** Why this viewer may not hold the subscription; undefined if the viewer may. */
  readonly refusal: (viewer: Json) => GraphQLError | undefined;
  /** Lets through the events that a viewer may see; undefined if viewers may see all events. */
  readonly filter: EventFilter | undefined;
}

/** How the gateway treats results that wait for a slow socket: see the directive `@delivery`. */
export type SlowPolicy = 'DISCONNECT' | 'DROP_OLDEST' | 'CONFLATE';

/** Which events of a subscription may be left out, and where. */
export interface Delivery {
  /** An event supersedes earlier ones of the same key. */
  readonly keyOf: (event: Event) => string;
  /** ms in which at most one event of each key is delivered; 0: every event is delivered. */
  readonly throttleMs: number;
  readonly onSlow: SlowPolicy;
}

/** One subscription field and the stream that it is bound to. */
export interface Binding {
  readonly field: string;
  /** The name of the stream. */
  readonly topic: string;
  /** The event field that selects the channel, a name or a path; undefined: always the whole topic. */
  readonly key: string | undefined;
  /** The argument that picks values of the key. Absent: it has the key's name. */
  readonly argument?: string | undefined;
  /** True if the key argument can't be left out to get the whole topic. */
  readonly keyRequired?: boolean;
  /** Converts a coerced value of the key argument to the form that events contain. */
  readonly keyForm: (value: unknown) => unknown;
  /** Undefined if the field has no `@filter`. Returns undefined if no condition remains with these arguments. */
  readonly filter: ((args: Arguments) => EventFilter | undefined) | undefined;
  /** Absent if no `@auth` guards the field. */
  readonly access?: ((args: Arguments) => SubscriptionAccess) | undefined;
  /** False with `sharing: NEVER`: each event is executed for each subscriber separately. */
  readonly shares: boolean;
  /** Number of past events of its channels that a subscription begins with. Absent or 0: none. */
  readonly replay?: number;
  /** Absent if no event may be left out. */
  readonly delivery?: Delivery | undefined;
  /** False with `compress: NEVER`: its results are sent as they are. Absent: true. */
  readonly compresses?: boolean | undefined;
  /** Texts by which a reload compares the field with the same field of the next graph. */
  readonly terms?: Terms;
}

/** A loaded graph, as the rest of the gateway needs it. */
export interface Graph {
  /** Absolute path. */
  readonly folder: string;
  readonly schema: GraphQLSchema;
  /** By subscription field. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** By name, or by pattern. */
  readonly topics: ReadonlyMap<string, Topic>;
  /** By name. */
  readonly streams: ReadonlyMap<string, Stream>;
  /** Whether any field is guarded by `@auth`: then contexts hold the viewer for its checks. */
  readonly hasAuth: boolean;
  /** Whether any field is fetched for entities: then contexts hold what is fetched. Absent: false. */
  readonly hasEntities?: boolean;
  /** True if resolvers might write to events; the gateway then freezes events, as executions share them. */
  readonly hasResolvers: boolean;
}
