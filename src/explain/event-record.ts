import type { Event, JsonValue } from '../events/event.ts';
import type { EventPlace, PassedOverReason, TracedGroup } from '../events/trace.ts';

/** What one event has met while a connection was watched. Times are ms since 1970. */
export interface EventRecord {
  readonly place: EventPlace;
  readonly seenAt: number;
  /** Fields by which subscriptions pick events of the topic; undefined: another process has consumed it. */
  routed?: {
    readonly keys: Readonly<Record<string, JsonValue | null>>;
    readonly channels: readonly string[];
  };
  passedOver?: PassedOverReason;
  undecodable?: { readonly reason: string; readonly message: string };
  /** Whether it went to the bus: not if none of its channels has a subscriber in any process. */
  published?: boolean;
  duplicateOn?: string;
  readonly groups: Map<TracedGroup, GroupRecord>;
}

/** What became of it in one group, of which the connection has a subscription. */
export interface GroupRecord {
  readonly event: Event;
  state: 'held' | 'filtered' | 'dispatched';
  subscribers: number;
  /** For how many of them the filter has let it through. */
  passing: number;
  /** Whether the connection's own subscription is among them. */
  passes: boolean;
  executions: number;
  errors: readonly string[];
  /** Of the result that the connection got. */
  delivered?: {
    readonly at: number;
    /** Subscribers that share it, its own included. */
    readonly sharedBy: number;
    /** What their viewers agree on: paths. */
    readonly agreeOn: readonly string[];
    readonly isSlow: boolean;
    readonly waitingBytes: number;
  };
  hasEnded: boolean;
}
