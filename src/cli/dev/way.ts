import type { DecodeError } from '../../events/decode-error.ts';
import type { JsonValue } from '../../events/event.ts';
import type { EventPlace, PassedOverReason, TracedGroup } from '../../events/trace.ts';

/** What one event has met on its way, as far as it is known. */
export interface Way {
  readonly place: EventPlace;
  /** The key as text; null: it has none, or it is not known. */
  readonly kafkaKey: string | null;
  routed: RoutedWay | undefined;
  passedOver: PassedOverReason | undefined;
  undecodable: DecodeError | undefined;
  /** A channel that has carried it before. */
  duplicateOn: string | undefined;
  groups: Map<TracedGroup, GroupWay>;
}

export interface RoutedWay {
  /** By field: its value, undefined if the event lacks it. */
  readonly keys: ReadonlyMap<string, JsonValue | undefined>;
  readonly channels: readonly string[];
}

/** What one group of subscribers had of it. */
export interface GroupWay {
  readonly group: TracedGroup;
  subscribers: number;
  /** The number of subscribers that the filter has let it through for. */
  passing: number;
  executions: number;
  /** Errors of results, the first ones. */
  readonly errors: string[];
  isHeld: boolean;
  /** It was for subscribers that had missed it. */
  isReplay: boolean;
  /** Dispatches that have not ended. */
  open: number;
}
