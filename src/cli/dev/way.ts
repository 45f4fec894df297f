import type { DecodeError } from '../../events/decode-error.ts';
import type { JsonValue } from '../../events/event.ts';
import type { EventPlace, PassedOverReason, TracedGroup } from '../../events/trace.ts';

/** The known steps of one event. */
export interface Way {
  readonly place: EventPlace;
  /** The Kafka key as text; null: the event has none, or the key is not known. */
  readonly kafkaKey: string | null;
  routed: RoutedWay | undefined;
  passedOver: PassedOverReason | undefined;
  undecodable: DecodeError | undefined;
  /** A channel that has carried the event before. */
  duplicateOn: string | undefined;
  groups: Map<TracedGroup, GroupWay>;
}

export interface RoutedWay {
  /** Values by field; undefined if the event lacks the field. */
  readonly keys: ReadonlyMap<string, JsonValue | undefined>;
  readonly channels: readonly string[];
}

/** The way of an event in one group of subscribers. */
export interface GroupWay {
  readonly group: TracedGroup;
  subscribers: number;
  /** The number of subscribers for which the filter has let the event through. */
  passing: number;
  executions: number;
  /** The first errors of the results. */
  readonly errors: string[];
  isHeld: boolean;
  /** Whether the event was for subscribers that had missed it. */
  isReplay: boolean;
  /** Dispatches that have not ended. */
  open: number;
}
