import type { EventPlace, EventTrace, TracedGroup } from '../events/trace.ts';
import type { SlowPolicy } from '../graph/graph.ts';
import type { Timers } from '../support/clock.ts';
import type { RefusedSubscription } from '../transports/connections/refused-subscriptions.ts';
import { consumedOf, withoutArrival } from './consumed.ts';
import type { EventRecord, GroupRecord } from './event-record.ts';
import type { Consumed, Explained, Explanation, SubscriptionExplanation } from './explanation.ts';
import { inGroup } from './in-group.ts';
import { shownList } from './shown-list.ts';
import type { Watch, WatchedConnection } from './watch.ts';
import { Watches } from './watches.ts';

/** One subscription of a connection, as far as it says which events it gets. */
export interface ExplainedSubscription {
  readonly plan: TracedGroup & {
    readonly topic: string;
    readonly shares: boolean;
    readonly delivery?: { readonly onSlow: SlowPolicy } | undefined;
  };
}

interface ExplainerOptions {
  readonly trace: Pick<EventTrace, 'listen'>;
  readonly connectionOf: (id: string) => WatchedConnection | undefined;
  /** All that the connection has joined. */
  readonly subscriptionsOf: (connection: WatchedConnection) => Iterable<ExplainedSubscription>;
  /** What `@auth` has refused it. */
  readonly refusedOf: (connection: WatchedConnection) => readonly RefusedSubscription[];
  readonly timers: Timers;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Says why a connection did, or did not, get an event. The first question about a connection and a topic begins a watch,
 * and each later one prolongs it. Nothing is recorded otherwise.
 */
export class Explainer {
  readonly #options: ExplainerOptions;
  readonly #watches: Watches;

  constructor(options: ExplainerOptions) {
    this.#options = options;
    this.#watches = new Watches(options);
  }

  /**
   * @param id of a connection; undefined: only what became of the event before it went to the bus is asked for
   * @returns undefined if there is no such connection
   */
  explain(id: string | undefined, event: EventPlace): Explanation | undefined {
    const { connectionOf, subscriptionsOf, refusedOf } = this.#options;
    const connection = id === undefined ? undefined : connectionOf(id);
    if (id !== undefined && connection === undefined) return undefined;
    const watch = this.#watches.of(connection, event.topic);
    const record = watch.find(event);
    const consumed = record?.consumed === undefined ? null : consumedOf(record.consumed);
    const isSlow = connection?.sendQueue.slowSince !== undefined;
    const subscriptions = connection === undefined ? [] : [...subscriptionsOf(connection)];
    const refused = connection === undefined ? [] : refusedOf(connection);
    return {
      connection: id ?? null,
      event,
      recording: {
        since: new Date(watch.since).toISOString(),
        until: new Date(watch.until).toISOString(),
        events: watch.size,
      },
      consumed,
      subscriptions: [
        ...subscriptions.map(({ plan }) => {
          const { field, operation, variables, topic, channels } = plan;
          const said = explained(plan, event, { record, consumed, watch, isSlow });
          return { field, operation: operation.name ?? null, variables, topic, channels, ...said };
        }),
        ...refused.map(unauthorised),
      ],
    };
  }
}

function unauthorised(refused: RefusedSubscription): SubscriptionExplanation {
  const { field, operation, topic, at, isNew, code, message } = refused;
  const time = new Date(at).toISOString();
  const text = isNew
    ? `@auth refused it at ${time}, when the client subscribed, with ${code}: ${message}`
    : `@auth ended it at ${time}, when the viewer was replaced, with ${code}: ${message}`;
  const steps = [{ step: 'auth', text }];
  return { field, operation, variables: null, topic, channels: [], verdict: 'unauthorised', steps };
}

interface Known {
  readonly record: EventRecord | undefined;
  readonly consumed: Consumed | null;
  readonly watch: Watch;
  readonly isSlow: boolean;
}

function explained(
  plan: ExplainedSubscription['plan'],
  event: EventPlace,
  { record, consumed, watch, isSlow }: Known,
): Explained {
  const { field, topic, channels } = plan;
  if (topic !== event.topic) {
    return { verdict: 'other topic', steps: [{ step: 'topic', text: `${field} gets events of ${topic}` }] };
  }
  const group = record && groupOf(plan, record);
  if (group !== undefined) return inGroup(plan, group, isSlow);
  if (consumed !== null) return withoutArrival(plan, consumed);
  if (record === undefined) {
    const since = new Date(watch.since).toISOString();
    const text = `events of ${topic} are recorded since ${since}, and this process has not seen this one since`;
    return { verdict: 'not recorded', steps: [{ step: 'record', text }] };
  }
  const { duplicateOn = '' } = record;
  if (channels.includes(duplicateOn)) {
    const text = `it came over ${duplicateOn} before the recording began, and what came since was a copy`;
    return { verdict: 'not recorded', steps: [{ step: 'channel', text }] };
  }
  const text = `it came for other subscriptions, and not over ${shownList(channels)}`;
  return { verdict: 'other channel', steps: [{ step: 'channel', text }] };
}

/** A subscription whose graph has been replaced meanwhile has another plan. */
function groupOf(plan: TracedGroup, { groups }: EventRecord): GroupRecord | undefined {
  const like = (traced: TracedGroup): boolean =>
    traced.operation.query === plan.operation.query &&
    traced.operation.name === plan.operation.name &&
    JSON.stringify(traced.variables) === JSON.stringify(plan.variables);
  return groups.get(plan) ?? [...groups].find(([traced]) => like(traced))?.[1];
}
