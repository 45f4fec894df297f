import type { Comparisons } from '../events/compared.ts';
import type { JsonValue } from '../events/event.ts';
import type { EventPlace, PassedOverReason, TracedGroup } from '../events/trace.ts';

/** What one event has met while it was watched. Times are ms since 1970. */
export interface EventRecord {
  readonly place: EventPlace;
  /** Absent: this process has not consumed it. */
  consumed?: ConsumedRecord;
  /** A channel that has carried it twice. */
  duplicateOn?: string;
  readonly groups: Map<TracedGroup, GroupRecord>;
}

/** Before it went to the bus. */
export interface ConsumedRecord {
  readonly at: number;
  routed?: {
    /** Fields by which subscriptions pick events of the topic. */
    readonly keys: Readonly<Record<string, JsonValue | null>>;
    /** Else it was routed by its Kafka key. */
    readonly isDecoded: boolean;
    /** Null: they were not kept. */
    readonly channels: readonly string[] | null;
  };
  passedOver?: PassedOverReason;
  undecodable?: { readonly reason: string; readonly message: string };
  /** False: none of its channels had a subscriber in any process. */
  published?: boolean;
}

/** What became of it in one group, of which the connection has a subscription. */
export interface GroupRecord {
  state: 'held' | 'filtered' | 'dispatched';
  subscribers: number;
  /** For how many of them the filter has let it through. */
  passing: number;
  /** Whether the connection's own subscription is among them. */
  passes: boolean;
  /** Undefined: nothing is, or a throttle holds it. */
  comparisons: Comparisons | undefined;
  isSkipped: boolean;
  /** The event that a throttle holds for the connection in the place of this one. */
  supersededBy?: EventPlace;
  executions: number;
  /** Paths at which viewers differ, so that more than one execution was needed. */
  readonly splits: Set<string>;
  errors: readonly string[];
  /** The result that the connection is to get. */
  settled?: {
    /** Subscribers that share it, its own included. */
    readonly sharedBy: number;
    /** Paths of what was read of their viewers. */
    readonly reads: readonly string[];
  };
  delivery?: DeliveryRecord;
}

/** A result that was handed to the connection. */
export interface DeliveryRecord {
  readonly at: number;
  /** Waiting for the client before it. */
  readonly bytesAhead: number;
  /** The socket has taken it. */
  writtenAt?: number;
  /** Still in the socket's own buffer then. */
  bytesInSocket?: number;
  /** A later result has taken its place. */
  leftOutAt?: number;
}
