import type { Json } from '../lazy/reads.ts';
import type { Comparisons } from './compared.ts';
import type { DecodeError } from './decode-error.ts';
import type { Event } from './event.ts';
import type { Message } from './message.ts';

/** Identifies an event. Without Kafka the process counts the offsets itself. */
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

/** The subscription of a group of subscribers. All steps of an event have the same object. */
export interface TracedGroup {
  /** The subscription field. */
  readonly field: string;
  readonly operation: { readonly name: string | undefined; readonly query: string };
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
  /** Undefined: all events of the channels are for all subscribers of the group. */
  readonly filter?: TracedFilter | undefined;
}

interface TracedFilter {
  compared?(event: Event, viewer: Json): Comparisons;
}

/** Why a record that is no dead letter is no event for any subscription either. */
export type PassedOverReason =
  'no_field' | 'tombstone' | 'too_old' | 'by_decode' | 'by_envelope' | 'deleted' | 'duplicate';

/** A step in a process that consumes the event, or gets it by hand, without Kafka. */
export type IngestStep =
  | { readonly step: 'passed_over'; readonly record: TracedRecord; readonly reason: PassedOverReason }
  | { readonly step: 'undecodable'; readonly record: TracedRecord; readonly error: DecodeError }
  | {
      readonly step: 'routed';
      readonly record: TracedRecord;
      /** Fields by which subscriptions pick events of the topic. */
      readonly keys: readonly string[];
      /** Holds the event's values of `keys`. Undefined: the record was routed by its Kafka key, and not decoded. */
      readonly event: Event | undefined;
      readonly channels: readonly string[];
    }
  /** None of the event's channels has a subscriber in any process, so it is not published. */
  | { readonly step: 'unsubscribed'; readonly record: TracedRecord }
  /** The bus has acknowledged the event on all channels that have subscribers. */
  | { readonly step: 'published'; readonly record: EventPlace };

/** The error as clients see it. */
export interface TracedError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
}

/** One request to a back end for fields of entities. */
export interface TracedFetch {
  readonly backend: string;
  /** Fields that the event's executions asked for; other events may have shared the request. */
  readonly fields: number;
  readonly ms: number;
  /** Entities that could not be had, by type and key, with the reason; the first few. */
  readonly failed: readonly string[];
}

interface GroupStep {
  readonly message: Message;
  readonly group: TracedGroup;
}

/** A step in a process with subscribers of the event. In a group: dispatched, executed and settled for all, ended. */
export type HubStep =
  /** The channel has carried the event before. */
  | { readonly step: 'duplicate'; readonly message: Message; readonly channel: string }
  /** A throttle holds the event until it is dispatched or superseded by a later event. */
  | ({
      readonly step: 'held';
      /** All subscribers of the group. */
      readonly subscribers: ReadonlySet<object>;
      /** Subscribers for which the event is held, since the filter lets it through for them. */
      readonly passing: ReadonlySet<object>;
    } & GroupStep)
  /** A later event came before this one was dispatched, and is held in its place for these subscribers. */
  | ({
      readonly step: 'superseded';
      readonly subscribers: ReadonlySet<object>;
      readonly by: Message;
    } & GroupStep)
  /** The group has a throttle, and the filter lets the event through for no subscriber. */
  | ({ readonly step: 'filtered'; readonly subscribers: ReadonlySet<object> } & GroupStep)
  | ({
      readonly step: 'dispatched';
      /** All subscribers of the group. */
      readonly subscribers: ReadonlySet<object>;
      /** Subscribers for which the filter lets the event through. */
      readonly passing: ReadonlySet<object>;
      /** Whether a subscriber skips this event, as MAX_WAITING_EVENTS wait for the subscriber already. */
      readonly isSkippedFor: (subscriber: object) => boolean;
      /** Whether the event is for subscribers that have missed it. */
      readonly isReplay: boolean;
    } & GroupStep)
  /** An execution is over. */
  | ({
      readonly step: 'executed';
      readonly errors: readonly TracedError[] | undefined;
      /** The requests for fields of entities so far, of all executions of the event. */
      readonly fetches: readonly TracedFetch[];
    } & GroupStep)
  /** These subscribers, except any that have left, get one result: of an execution, or kept from an earlier one. */
  | ({
      readonly step: 'settled';
      readonly subscribers: ReadonlySet<object>;
      /** Paths of the viewer that were read: the viewers of these subscribers have equal values there. */
      readonly reads: readonly string[];
    } & GroupStep)
  /** One more execution is needed, as viewers differ at this path. */
  | ({ readonly step: 'split'; readonly path: string } & GroupStep)
  /** A result has been handed to the connections of these subscribers: at once, or after the results before it. */
  | ({
      readonly step: 'delivered';
      readonly subscribers: Iterable<object>;
      readonly result: object;
    } & GroupStep)
  /** The turn of the delivery is over: the result has been written to all sockets except slow ones. */
  | ({ readonly step: 'written'; readonly result: object } & GroupStep)
  | ({ readonly step: 'ended' } & GroupStep);

/** A step of connections whose clients are slow. */
export type SlowStep =
  /** A later result has taken the place of this one, which had been delivered. */
  | { readonly step: 'left_out'; readonly result: object; readonly subscriber: object }
  /** The socket has taken all data that waited for it. */
  | { readonly step: 'caught_up'; readonly sendQueue: object };

/**
 * Called with each step of each event. Without a tracer, a step costs one comparison, and its arguments are not made.
 * Sets and objects belong to the caller, and are to be read within the call. Must not throw.
 */
export type EventTracer = (step: IngestStep | HubStep | SlowStep) => void;

/** The receiver of the steps of events. */
export interface TracedSteps {
  /** Undefined while nothing listens, which is usual. To be read anew for each step. */
  readonly listener: EventTracer | undefined;
}

/** Passes the steps of events to the present listeners. */
export class EventTrace implements TracedSteps {
  readonly #listeners = new Set<EventTracer>();
  listener: EventTracer | undefined;

  /** @returns a function that removes the listener */
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
