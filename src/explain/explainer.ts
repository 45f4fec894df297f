import type { EventPlace, EventTrace } from '../events/trace.ts';
import type { EventFilter, SlowPolicy } from '../graph/graph.ts';
import type { EventRecord, GroupRecord } from './event-record.ts';
import { Watch, type WatchedConnection } from './watch.ts';

/** One subscription of a connection, as far as it says which events it gets. */
export interface ExplainedSubscription {
  readonly plan: {
    readonly field: string;
    readonly topic: string;
    readonly channels: readonly string[];
    readonly variables: Readonly<Record<string, unknown>>;
    readonly filter: Pick<EventFilter, 'compared'> | undefined;
    readonly delivery?: { readonly onSlow: SlowPolicy } | undefined;
    readonly operation: { readonly name: string | undefined };
  };
}

interface ExplainerOptions {
  readonly trace: EventTrace;
  readonly connectionOf: (id: string) => WatchedConnection | undefined;
  /** All that the connection has joined. */
  readonly subscriptionsOf: (connection: WatchedConnection) => Iterable<ExplainedSubscription>;
  /** ms since 1970 */
  readonly now: () => number;
}

type Verdict =
  | 'delivered'
  | 'executed with an error'
  | 'filtered out'
  | 'other channel'
  | 'other topic'
  | 'held by a throttle'
  | 'skipped for slowness'
  | 'under way'
  | 'did not reach this process'
  | 'not published'
  | 'passed over'
  | 'dead letter'
  | 'not recorded';

export interface SubscriptionExplanation {
  readonly field: string;
  readonly operation: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly verdict: Verdict;
  /** One sentence each, from the event's beginning on. */
  readonly because: readonly string[];
}

export interface Explanation {
  readonly connection: string;
  readonly event: EventPlace;
  readonly recording: { readonly since: string; readonly until: string; readonly events: number };
  readonly subscriptions: readonly SubscriptionExplanation[];
}

/** Events are recorded for so long after a connection was last asked about. */
const WATCH_MS = 600_000;

/** Connections that are watched at the same time. */
const MAX_WATCHES = 10;

/**
 * Says why a connection did, or did not, get an event. Events are recorded while somebody asks: the first question about a
 * connection begins a watch, and each later one prolongs it. Nothing is recorded otherwise.
 */
export class Explainer {
  readonly #options: ExplainerOptions;
  /** With what ends the listening, by connection. */
  readonly #watches = new Map<WatchedConnection, { readonly watch: Watch; readonly end: () => void }>();

  constructor(options: ExplainerOptions) {
    this.#options = options;
  }

  /** @returns undefined if there is no such connection */
  explain(id: string, event: EventPlace): Explanation | undefined {
    const { connectionOf, subscriptionsOf } = this.#options;
    const connection = connectionOf(id);
    if (connection === undefined) return undefined;
    const watch = this.#watch(connection);
    const record = watch.find(event);
    return {
      connection: id,
      event,
      recording: {
        since: new Date(watch.since).toISOString(),
        until: new Date(watch.until).toISOString(),
        events: watch.size,
      },
      subscriptions: [...subscriptionsOf(connection)].map((subscription) => {
        const { field, operation, variables } = subscription.plan;
        const [verdict, ...because] = explained(subscription, event, record, watch);
        return { field, operation: operation.name ?? null, variables, verdict, because };
      }),
    };
  }

  #watch(connection: WatchedConnection): Watch {
    const { trace, now } = this.#options;
    this.#endOld();
    const known = this.#watches.get(connection);
    if (known !== undefined) {
      known.watch.until = now() + WATCH_MS;
      return known.watch;
    }
    if (this.#watches.size >= MAX_WATCHES) {
      const [oldest] = this.#watches.keys();
      this.#end(oldest as WatchedConnection);
    }
    const watch = new Watch(connection, now() + WATCH_MS, now);
    const end = trace.listen((step) => {
      if (watch.until < now()) this.#end(connection);
      else watch.take(step);
    });
    this.#watches.set(connection, { watch, end });
    return watch;
  }

  #endOld(): void {
    const { now } = this.#options;
    for (const [connection, { watch }] of this.#watches) if (watch.until < now()) this.#end(connection);
  }

  #end(connection: WatchedConnection): void {
    this.#watches.get(connection)?.end();
    this.#watches.delete(connection);
  }
}

type Explained = readonly [Verdict, ...string[]];

function explained(
  { plan }: ExplainedSubscription,
  event: EventPlace,
  record: EventRecord | undefined,
  watch: Watch,
): Explained {
  if (plan.topic !== event.topic) return ['other topic', `${plan.field} gets events of ${plan.topic}`];
  if (record === undefined) {
    const since = new Date(watch.since).toISOString();
    return [
      'not recorded',
      `events of this connection are recorded since ${since}, and this process has not seen this one since`,
    ];
  }
  const { undecodable, passedOver, routed, published, duplicateOn } = record;
  if (undecodable !== undefined) return ['dead letter', `${undecodable.reason}: ${undecodable.message}`];
  if (passedOver !== undefined) return ['passed over', passedOver];
  const [, group] = [...record.groups].find(([traced]) => traced === plan || sameAs(traced, plan)) ?? [];
  if (group !== undefined) return inGroup(plan, group, watch);
  const way =
    routed === undefined ? [] : [`routed by ${JSON.stringify(routed.keys)} to ${routed.channels.join(', ')}`];
  if (routed !== undefined && !routed.channels.some((channel) => plan.channels.includes(channel))) {
    return ['other channel', ...way, `${plan.field} listens to ${plan.channels.join(', ')}`];
  }
  if (duplicateOn !== undefined) way.push(`${duplicateOn} has carried it before`);
  if (published === false) return ['not published', ...way, 'no process had a subscriber of its channels'];
  return [
    'did not reach this process',
    ...way,
    'it was published, and has not come over a channel of this subscription',
  ];
}

/** A subscription whose graph has been replaced meanwhile has another plan. */
function sameAs(
  traced: { readonly field: string; readonly channels: readonly string[]; readonly variables: object },
  plan: ExplainedSubscription['plan'],
): boolean {
  return (
    traced.field === plan.field &&
    traced.channels.join() === plan.channels.join() &&
    JSON.stringify(traced.variables) === JSON.stringify(plan.variables)
  );
}

function inGroup(plan: ExplainedSubscription['plan'], group: GroupRecord, { connection }: Watch): Explained {
  const { state, passes, passing, subscribers, executions, errors, delivered, hasEnded } = group;
  if (state === 'held') return ['held by a throttle', 'a later event may take its place'];
  if (!passes) {
    return ['filtered out', ...(plan.filter?.compared?.(group.event, connection.viewer) ?? [])];
  }
  const dispatched = `${subscribers} subscribers in its group, for ${passing} of which the filter lets it through; ${executions} executions so far`;
  if (delivered === undefined) {
    if (!hasEnded) return ['under way', dispatched];
    return [
      'skipped for slowness',
      dispatched,
      'more events than MAX_WAITING_EVENTS waited for this subscription',
    ];
  }
  const { at, sharedBy, isSlow, waitingBytes } = delivered;
  const because = [
    dispatched,
    sharedBy === 1
      ? 'executed for this subscription alone'
      : `its result is shared by ${sharedBy} subscribers, whose viewers agree on all that was read`,
    `handed to the connection at ${new Date(at).toISOString()}`,
    ...errors.map((error) => `error at ${error}`),
  ];
  const { onSlow = 'DISCONNECT' } = plan.delivery ?? {};
  if (isSlow && onSlow !== 'DISCONNECT') {
    const slow = `the client was slow, with ${waitingBytes} bytes waiting: by ${onSlow} a later result may have taken its place`;
    return ['skipped for slowness', ...because, slow];
  }
  because.push(
    isSlow
      ? `the client was slow: it is written behind ${waitingBytes} bytes`
      : 'written at the end of that turn',
  );
  return [errors.length > 0 ? 'executed with an error' : 'delivered', ...because];
}
