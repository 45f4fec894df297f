import type { Compared } from '../events/compared.ts';
import type { EventPlace } from '../events/trace.ts';

/** What became of an event for one subscription. */
export type Verdict =
  | 'delivered'
  | 'executed with an error'
  | 'waiting for a slow client'
  | 'skipped for slowness'
  | 'skipped at MAX_WAITING_EVENTS'
  | 'filtered out'
  | 'other channel'
  | 'other topic'
  | 'unauthorised'
  | 'held by a throttle'
  | 'under way'
  | 'did not reach this process'
  | 'not published'
  | 'passed over'
  | 'dead letter'
  | 'not recorded';

/** One thing that the gateway did, or found. */
export interface ExplainedStep {
  /** `filter`, `execute`: in a word. */
  readonly step: string;
  /** One sentence, without its full stop. */
  readonly text: string;
  /** With the values, where some were compared. */
  readonly compared?: readonly Compared[];
}

export interface Explained {
  readonly verdict: Verdict;
  /** From the event's beginning on. */
  readonly steps: readonly ExplainedStep[];
}

export interface SubscriptionExplanation extends Explained {
  readonly field: string;
  readonly operation: string | null;
  /** Null where they have not been kept. */
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly topic: string;
  readonly channels: readonly string[];
}

/** What became of an event before it went to the bus: known to the process that has consumed it. */
export interface Consumed {
  /** ISO 8601 */
  readonly at: string;
  readonly outcome: 'routed' | 'passed over' | 'dead letter';
  /** None if it was not routed. */
  readonly channels: readonly string[];
  /** Null: the bus has not acknowledged it yet. */
  readonly isPublished: boolean | null;
  readonly steps: readonly ExplainedStep[];
}

/** Of one process. */
export interface Explanation {
  /** Null: it was asked for the event only. */
  readonly connection: string | null;
  readonly event: EventPlace;
  /** Of the topic's events, for this question. Times are ISO 8601. */
  readonly recording: { readonly since: string; readonly until: string; readonly events: number };
  /** Null: this process has not consumed the event since. */
  readonly consumed: Consumed | null;
  /** Of the connection; those that `@auth` has refused it too. */
  readonly subscriptions: readonly SubscriptionExplanation[];
}
