import type { EventPlace, EventTrace, TracedGroup } from '../events/trace.ts';
import type { Delivery, EventFilter, Topic } from '../graph/graph.ts';
import { topicNamed } from '../graph/topics.ts';
import type { Timers } from '../support/clock.ts';
import type { RefusedSubscription } from '../transports/connections/refused-subscriptions.ts';
import { arrived } from './arrived.ts';
import { consumedOf, knownSince, withoutArrival, type Holder } from './consumed.ts';
import type { ConsumedRecord, EventRecord, GroupRecord } from './event-record.ts';
import type {
  Consumed,
  Explained,
  Explanation,
  Known,
  LastEvents,
  SubscriptionExplanation,
} from './explanation.ts';
import { inGroup } from './in-group.ts';
import { lastEvents, type LastQuestion } from './last-events.ts';
import type { KeptArrived, RecentlyArrived } from './recently-arrived.ts';
import { recordOf, type RecentlyConsumed } from './recently-consumed.ts';
import { shownList } from './shown-list.ts';
import type { Watch, WatchedConnection } from './watch.ts';
import { Watches } from './watches.ts';

/** The part of a connection's subscription that says which events it gets. */
export interface ExplainedSubscription {
  readonly plan: TracedGroup & {
    readonly topic: string;
    readonly filter?: EventFilter | undefined;
    readonly shares: boolean;
    readonly delivery?: Pick<Delivery, 'throttleMs' | 'onSlow'> | undefined;
  };
}

interface ExplainerOptions {
  readonly trace: Pick<EventTrace, 'listen'>;
  readonly connectionOf: (id: string) => WatchedConnection | undefined;
  /** All subscriptions that the connection has joined. */
  readonly subscriptionsOf: (connection: WatchedConnection) => Iterable<ExplainedSubscription>;
  /** Subscriptions that `@auth` has refused the connection. */
  readonly refusedOf: (connection: WatchedConnection) => readonly RefusedSubscription[];
  readonly consumed: Pick<RecentlyConsumed, 'of'>;
  readonly arrived: Pick<RecentlyArrived, 'of'>;
  /** The topics of the graph. */
  readonly topics: () => ReadonlyMap<string, Topic>;
  readonly timers: Timers;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Says why a connection did, or did not, get an event. The first question about a connection and a topic begins a
 * watch, and each later question prolongs it. For an event before the watch, the answer comes from the last events,
 * which are kept in any case.
 */
export class Explainer {
  readonly #options: ExplainerOptions;
  readonly #watches: Watches;

  constructor(options: ExplainerOptions) {
    this.#options = options;
    this.#watches = new Watches(options);
  }

  /** The topics of the graph: names, and patterns. */
  get topics(): readonly string[] {
    return [...this.#options.topics().keys()];
  }

  /** Whether a field shows the topic. A question about another one has no answer, and its watch would record nothing. */
  shows(topic: string): boolean {
    return this.#topic(topic) !== undefined;
  }

  #topic(name: string): Topic | undefined {
    return topicNamed(this.#options.topics(), name);
  }

  /**
   * @param id of a connection; undefined: only what became of the event before it went to the bus is asked for
   * @returns undefined if there is no such connection
   */
  explain(id: string | undefined, event: EventPlace): Explanation | undefined {
    const { subscriptionsOf, refusedOf } = this.#options;
    const connection = this.#connectionOf(id);
    if (connection === null) return undefined;
    const watch = this.#watches.of(connection, event.topic);
    const record = watch.find(event);
    const consumedRecord = this.#consumedOf(event, record);
    const consumed = consumedRecord === undefined ? null : consumedOf(consumedRecord);
    const known = this.#knownOf(event.topic, watch);
    const opened = connection === undefined ? null : isoOf(connection.openedAt * 1_000);
    const kept = this.#options.arrived.of(event.topic).find(event.partition, event.offset);
    const subscriptions = connection === undefined ? [] : [...subscriptionsOf(connection)];
    const refused = connection === undefined ? [] : refusedOf(connection);
    const streams = (this.#topic(event.topic)?.streams ?? []).map(({ name }) => name);
    return {
      connection: id ?? null,
      opened,
      event,
      ...known,
      consumed,
      subscriptions: [
        ...subscriptions.map(({ plan }) => {
          const { field, operation, variables, topic, channels } = plan;
          const holder = { ...known, opened };
          const said = explained(plan, streams, { record, consumed, kept, connection, holder });
          return { field, operation: operation.name ?? null, variables, topic, channels, ...said };
        }),
        ...refused.map(unauthorised),
      ],
    };
  }

  /** Lists the last events that this process knows of. @returns undefined if there is no such connection */
  last(id: string | undefined, question: LastQuestion): LastEvents | undefined {
    const connection = this.#connectionOf(id);
    if (connection === null) return undefined;
    const { consumed, arrived: came } = this.#options;
    const { topic } = question;
    const watch = this.#watches.of(connection, topic);
    const rings = { consumed: consumed.of(topic), arrived: came.of(topic), recorded: watch.records };
    return {
      ...this.#knownOf(topic, watch),
      events: lastEvents(question, rings, this.#topic(topic)?.keys ?? []),
    };
  }

  /** @returns null if no connection has the id; undefined without an id */
  #connectionOf(id: string | undefined): WatchedConnection | undefined | null {
    return id === undefined ? undefined : (this.#options.connectionOf(id) ?? null);
  }

  /** Returns the recorded consumption of the event; if the recording began in the midst of it, the kept one. */
  #consumedOf({ topic, partition, offset }: EventPlace, record?: EventRecord): ConsumedRecord | undefined {
    const { consumed } = record ?? {};
    if (consumed?.routed ?? consumed?.passedOver ?? consumed?.undecodable) return consumed;
    const kept = this.#options.consumed.of(topic).find(partition, offset);
    return kept === undefined ? consumed : recordOf(kept);
  }

  #knownOf(topic: string, watch: Watch): Known {
    const { consumed, arrived: came } = this.#options;
    const keptOf = ({ since, size }: { readonly since: number; readonly size: number }) => ({
      since: isoOf(since),
      events: size,
    });
    return {
      recording: { since: isoOf(watch.since), until: isoOf(watch.until), events: watch.size },
      kept: { consumed: keptOf(consumed.of(topic)), arrived: keptOf(came.of(topic)) },
    };
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

function unauthorised(refused: RefusedSubscription): SubscriptionExplanation {
  const { field, operation, topic, at, isNew, code, message } = refused;
  const time = isoOf(at);
  const text = isNew
    ? `@auth refused it at ${time}, when the client subscribed, with ${code}: ${message}`
    : `@auth ended it at ${time}, when the viewer was replaced, with ${code}: ${message}`;
  const steps = [{ step: 'auth', text }];
  return { field, operation, variables: null, topic, channels: [], verdict: 'unauthorised', steps };
}

interface OfEvent {
  readonly record: EventRecord | undefined;
  readonly consumed: Consumed | null;
  /** The event as it came, if it is one of the last that are kept. */
  readonly kept: KeptArrived | undefined;
  readonly connection: WatchedConnection | undefined;
  readonly holder: Holder;
}

function explained(
  plan: ExplainedSubscription['plan'],
  streams: readonly string[],
  { record, consumed, kept, connection, holder }: OfEvent,
): Explained {
  const { field, topic, channels } = plan;
  if (!streams.includes(topic)) {
    return { verdict: 'other topic', steps: [{ step: 'topic', text: `${field} gets events of ${topic}` }] };
  }
  const group = record && groupOf(plan, record);
  if (group !== undefined) return inGroup(plan, group, connection?.sendQueue.slowSince !== undefined);
  const came = kept && connection && arrived(plan, kept, connection);
  if (came !== undefined) return came;
  if (consumed !== null) return withoutArrival(plan, consumed, holder);
  if (record === undefined && kept === undefined) {
    const since = knownSince(holder);
    const text = `events of ${topic} are recorded since ${since}, and this process has not seen this one since`;
    return { verdict: 'not recorded', steps: [{ step: 'record', text }] };
  }
  const { duplicateOn = '' } = record ?? {};
  if (channels.includes(duplicateOn)) {
    const text = `it came over ${duplicateOn} before the recording began, and what came since was a copy`;
    return { verdict: 'not recorded', steps: [{ step: 'channel', text }] };
  }
  const text = `it came for other subscriptions, and not over ${shownList(channels)}`;
  return { verdict: 'other channel', steps: [{ step: 'channel', text }] };
}

/** Compares operations, too: a subscription has another plan if its graph has been replaced meanwhile. */
function groupOf(plan: TracedGroup, { groups }: EventRecord): GroupRecord | undefined {
  const like = (traced: TracedGroup): boolean =>
    traced.operation.query === plan.operation.query &&
    traced.operation.name === plan.operation.name &&
    JSON.stringify(traced.variables) === JSON.stringify(plan.variables);
  return groups.get(plan) ?? [...groups].find(([traced]) => like(traced))?.[1];
}
