import type { Json } from '../lazy/reads.ts';
import type { Comparisons } from './compared.ts';
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
  readonly operation: { readonly name: string | undefined; readonly query: string };
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
  /** Undefined: all events of its channels are for all of the group. */
  readonly filter?: TracedFilter | undefined;
}

interface TracedFilter {
  compared?(event: Event, viewer: Json): Comparisons;
}

/** Why a record is no event for any subscription, though it is no dead letter either. */
export type PassedOverReason = 'no_field' | 'tombstone' | 'too_old' | 'by_decode';

/** A step in a process that consumes the event, or takes it by hand. */
export type IngestStep =
  | { readonly step: 'passed_over'; readonly record: TracedRecord; readonly reason: PassedOverReason }
  | { readonly step: 'undecodable'; readonly record: TracedRecord; readonly error: DecodeError }
  | {
      readonly step: 'routed';
      readonly record: TracedRecord;
      /** Fields by which subscriptions pick events of the topic. */
      readonly keys: readonly string[];
      /** Holds the values of these, as far as the event has them. Undefined: it was routed by its Kafka key, and not decoded. */
      readonly event: Event | undefined;
      readonly channels: readonly string[];
    }
  /** None of its channels has a subscriber in any process: it is not published. */
  | { readonly step: 'unsubscribed'; readonly record: TracedRecord }
  /** The bus has acknowledged it on all channels that have subscribers. */
  | { readonly step: 'published'; readonly record: EventPlace };

/** The error as clients see it. */
export interface TracedError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
}

interface GroupStep {
  readonly message: Message;
  readonly group: TracedGroup;
}

/** A step in a process that holds subscribers of the event. For a group: dispatched, executed and settled for all, ended. */
export type HubStep =
  /** The channel has carried the event before. */
  | { readonly step: 'duplicate'; readonly message: Message; readonly channel: string }
  /** A throttle keeps it, until it is dispatched or superseded by a later event. */
  | ({
      readonly step: 'held';
      /** All of the group. */
      readonly subscribers: ReadonlySet<object>;
      /** For whom it is held: the filter lets it through for them. */
      readonly passing: ReadonlySet<object>;
    } & GroupStep)
  /** A later event has come before it was dispatched, and is held for these in its place. */
  | ({
      readonly step: 'superseded';
      readonly subscribers: ReadonlySet<object>;
      readonly by: Message;
    } & GroupStep)
  /** There is a throttle, and the filter lets the event through for no subscriber. */
  | ({ readonly step: 'filtered'; readonly subscribers: ReadonlySet<object> } & GroupStep)
  | ({
      readonly step: 'dispatched';
      /** All of the group. */
      readonly subscribers: ReadonlySet<object>;
      /** For whom the filter lets the event through. */
      readonly passing: ReadonlySet<object>;
      /** Whether a subscriber has MAX_WAITING_EVENTS waiting already, so that it skips this one. */
      readonly isSkippedFor: (subscriber: object) => boolean;
      /** Whether it is for subscribers that have missed it. */
      readonly isReplay: boolean;
    } & GroupStep)
  /** An execution is over. */
  | ({ readonly step: 'executed'; readonly errors: readonly TracedError[] | undefined } & GroupStep)
  /** These get one result, of an execution or kept from an earlier one; but for those that have left. */
  | ({
      readonly step: 'settled';
      readonly subscribers: ReadonlySet<object>;
      /** Paths of what was read of the viewer: the viewers of these subscribers agree on it. */
      readonly reads: readonly string[];
    } & GroupStep)
  /** One more execution is needed, as viewers differ at this path. */
  | ({ readonly step: 'split'; readonly path: string } & GroupStep)
  /** A result has been handed to the connections of these: at once, or when the results before it had come. */
  | ({
      readonly step: 'delivered';
      readonly subscribers: Iterable<object>;
      readonly result: object;
    } & GroupStep)
  /** The turn is over in which it was: sockets have been written to, but for those that are slow. */
  | ({ readonly step: 'written'; readonly result: object } & GroupStep)
  | ({ readonly step: 'ended' } & GroupStep);

/** A step of connections whose clients are slow. */
export type SlowStep =
  /** A later result has taken the place of this one, which had been delivered. */
  | { readonly step: 'left_out'; readonly result: object; readonly subscriber: object }
  /** The socket has taken all that there was for it. */
  | { readonly step: 'caught_up'; readonly sendQueue: object };

/**
 * Is told of each step of each event. Where there is none a step costs one comparison: its arguments are not made. Sets
 * and objects are those of the caller: to be read within the call. Must not throw.
 */
export type EventTracer = (step: IngestStep | HubStep | SlowStep) => void;

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
