import type { DecodeError } from './decode-error.ts';
import type { Event } from './event.ts';
import type { Message } from './message.ts';

/** Which event it is. Without Kafka the process counts the offsets itself. */
export interface EventPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record as it is consumed. */
export interface TracedRecord extends EventPlace {
  /** Kafka key. */
  readonly key: Buffer | null;
}

/** What a group of subscribers has asked for. The same object at each step of an event. */
export interface TracedGroup {
  /** The subscription field. */
  readonly field: string;
  readonly operation: { readonly name: string | undefined };
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
}

/** Why a record is no event for any subscription, though it is no dead letter either. */
export type PassedOverReason = 'no_field' | 'tombstone' | 'too_old' | 'by_decode';

/** Of a process that consumes the event, or takes it by hand. */
export type IngestStep =
  | { readonly step: 'passed_over'; readonly record: TracedRecord; readonly reason: PassedOverReason }
  | { readonly step: 'undecodable'; readonly record: TracedRecord; readonly error: DecodeError }
  | {
      readonly step: 'routed';
      readonly record: TracedRecord;
      /** Fields by which subscriptions pick events of the topic. */
      readonly keys: readonly string[];
      /** Holds these fields, as far as the event has them. Undefined: it was routed by its Kafka key, and not decoded. */
      readonly event: Event | undefined;
      readonly channels: readonly string[];
    }
  /** None of its channels has a subscriber in any process: it is not published. */
  | { readonly step: 'unsubscribed'; readonly record: TracedRecord }
  /** The bus has acknowledged it on all channels that have subscribers. */
  | { readonly step: 'published'; readonly record: EventPlace };

/** As clients see it. */
export interface TracedError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
}

interface GroupStep {
  readonly message: Message;
  readonly group: TracedGroup;
}

/** Of a process that holds subscribers of the event. For a group: dispatched, executed and settled for all, ended. */
export type HubStep =
  /** The channel has carried the event before. */
  | { readonly step: 'duplicate'; readonly message: Message; readonly channel: string }
  /** A throttle keeps it, until it is dispatched or superseded by a later event. */
  | ({ readonly step: 'held'; readonly subscribers: ReadonlySet<object> } & GroupStep)
  /** There is a throttle, and the filter lets the event through for no subscriber. */
  | ({ readonly step: 'filtered'; readonly subscribers: ReadonlySet<object> } & GroupStep)
  | ({
      readonly step: 'dispatched';
      /** All of the group. */
      readonly subscribers: ReadonlySet<object>;
      /** For whom the filter lets the event through. */
      readonly passing: ReadonlySet<object>;
      /** Whether it is for subscribers that have missed it. */
      readonly isReplay: boolean;
    } & GroupStep)
  /** An execution is over. */
  | ({ readonly step: 'executed'; readonly errors: readonly TracedError[] | undefined } & GroupStep)
  /** These get one result, of an execution or kept from an earlier one; but for those that have left. */
  | ({
      readonly step: 'settled';
      readonly subscribers: ReadonlySet<object>;
      /** What the result depends on of their viewers, who agree on it. */
      readonly reads: { readonly paths: readonly string[] };
    } & GroupStep)
  | ({ readonly step: 'ended' } & GroupStep);

/**
 * Is told of each step of each event. Where there is none a step costs one comparison: its arguments are not made. Sets
 * and objects are those of the caller: to be read within the call. Must not throw.
 */
export type EventTracer = (step: IngestStep | HubStep) => void;

/** Where the steps of events are told. */
export interface TracedSteps {
  /** Undefined while no one listens, as mostly: read for each step. */
  readonly listener: EventTracer | undefined;
}

/** Tells the steps of events to those that listen at present. */
export class EventTrace implements TracedSteps {
  readonly #listeners = new Set<EventTracer>();
  listener: EventTracer | undefined;

  /** @returns ends it */
  listen(listener: EventTracer): () => void {
    this.#listeners.add(listener);
    this.#changed();
    return () => {
      this.#listeners.delete(listener);
      this.#changed();
    };
  }

  #changed(): void {
    const [only, ...others] = this.#listeners;
    this.listener = others.length === 0 ? only : (step) => this.#listeners.forEach((each) => each(step));
  }
}
