import type { Compared } from '../events/compared.ts';
import type { EventPlace } from '../events/trace.ts';

/** The outcome of an event for one subscription. */
export type Verdict =
  | 'delivered'
  | 'let through'
  | 'let through, or superseded'
  | 'executed with an error'
  | 'waiting for a slow client'
  | 'skipped for slowness'
  | 'skipped at MAX_WAITING_EVENTS'
  | 'filtered out'
  | 'other channel'
  | 'other topic'
  | 'unauthorised'
  | 'held by a throttle'
  | 'superseded'
  | 'under way'
  | 'did not reach this process'
  | 'not published'
  | 'before it connected'
  | 'not kept'
  | 'passed over'
  | 'dead letter'
  | 'not recorded';

/** One thing that the gateway did, or found. */
export interface ExplainedStep {
  /** The kind of step in a word: `filter`, `execute`. */
  readonly step: string;
  /** One sentence, without its full stop. */
  readonly text: string;
  /** Comparisons with their values, if the step made any. */
  readonly compared?: readonly Compared[];
}

export interface Explained {
  readonly verdict: Verdict;
  /** In the order of time. */
  readonly steps: readonly ExplainedStep[];
}

export interface SubscriptionExplanation extends Explained {
  readonly field: string;
  readonly operation: string | null;
  /** Null: the variables have not been kept. */
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly topic: string;
  readonly channels: readonly string[];
}

/** The outcome of an event before it went to the bus, which the process that has consumed the event knows. */
export interface Consumed {
  /** ISO 8601 */
  readonly at: string;
  readonly outcome: 'routed' | 'passed over' | 'dead letter';
  /** Empty: the event was not routed; null: the channels are not known any more. */
  readonly channels: readonly string[] | null;
  /** Null: the bus has not acknowledged it yet. */
  readonly isPublished: boolean | null;
  readonly steps: readonly ExplainedStep[];
}

/** The knowledge that one process has of a topic. Times are ISO 8601. */
export interface Known {
  /** The recording of the topic's events, for this question and later ones. */
  readonly recording: { readonly since: string; readonly until: string; readonly events: number };
  /** The last events, which are kept in any case: `consumed` by the process, and `arrived` over the bus. */
  readonly kept: { readonly consumed: KeptLast; readonly arrived: KeptLast };
}

interface KeptLast {
  /** All events since this time are kept. */
  readonly since: string;
  readonly events: number;
}

/** The last events of a topic that one process knows of; of one partition or key if the question names it. */
export interface LastEvents extends Known {
  /** The last event comes first. */
  readonly events: readonly {
    readonly partition: number;
    readonly offset: number;
    /** ISO 8601 */
    readonly at: string;
  }[];
}

/** The explanation of one process. */
export interface Explanation extends Known {
  /** Null: the question is about the event only. */
  readonly connection: string | null;
  /** When the connection was opened: ISO 8601. */
  readonly opened: string | null;
  readonly event: EventPlace;
  /** Null: this process has not consumed the event, as far as it knows. */
  readonly consumed: Consumed | null;
  /** The subscriptions of the connection, and those that `@auth` has refused it. */
  readonly subscriptions: readonly SubscriptionExplanation[];
}
