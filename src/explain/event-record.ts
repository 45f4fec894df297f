import type { Comparisons } from '../events/compared.ts';
import type { JsonValue } from '../events/event.ts';
import type { EventPlace, PassedOverReason, TracedFetch, TracedGroup } from '../events/trace.ts';

/** The record of one event that was watched. Times are ms since 1970. */
export interface EventRecord {
  readonly place: EventPlace;
  /** Absent: this process has not consumed the event. */
  consumed?: ConsumedRecord;
  /** A channel that has carried the event twice. */
  duplicateOn?: string;
  readonly groups: Map<TracedGroup, GroupRecord>;
}

/** The record of an event before it went to the bus. */
export interface ConsumedRecord {
  readonly at: number;
  routed?: {
    /** Fields by which subscriptions pick events of the topic. */
    readonly keys: Readonly<Record<string, JsonValue | null>>;
    /** False: the event was routed by its Kafka key. */
    readonly isDecoded: boolean;
    /** Null: the channels were not kept. */
    readonly channels: readonly string[] | null;
  };
  passedOver?: PassedOverReason;
  undecodable?: { readonly reason: string; readonly message: string };
  /** False: none of the event's channels had a subscriber in any process. */
  published?: boolean;
}

/** The record of an event in one group, to which a subscription of the connection belongs. */
export interface GroupRecord {
  state: 'held' | 'filtered' | 'dispatched';
  subscribers: number;
  /** The number of subscribers for which the filter has let the event through. */
  passing: number;
  /** Whether the connection's own subscription is one of the passing ones. */
  passes: boolean;
  /** Undefined: the filter compares nothing, or a throttle holds the event. */
  comparisons: Comparisons | undefined;
  isSkipped: boolean;
  /** The event that a throttle holds for the connection in the place of this one. */
  supersededBy?: EventPlace;
  executions: number;
  /** Paths at which viewers differ, so that more than one execution was needed. */
  readonly splits: Set<string>;
  errors: readonly string[];
  fetches: readonly TracedFetch[];
  /** The result that the connection is to get. */
  settled?: {
    /** The number of subscribers that share the result, the connection's own included. */
    readonly sharedBy: number;
    /** Paths of the properties that were read of their viewers. */
    readonly reads: readonly string[];
  };
  delivery?: DeliveryRecord;
}

/** A result that was handed to the connection. */
export interface DeliveryRecord {
  readonly at: number;
  /** Bytes that waited for the client before the result. */
  readonly bytesAhead: number;
  /** When the socket had taken the result. */
  writtenAt?: number;
  /** Bytes in the socket's own buffer at that time. */
  bytesInSocket?: number;
  /** When a later result took its place. */
  leftOutAt?: number;
}
