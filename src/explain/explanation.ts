import type { EventPlace, TracedGroup } from '../events/trace.ts';
import type { EventFilter, SlowPolicy } from '../graph/graph.ts';
import type { EventRecord, GroupRecord } from './event-record.ts';
import type { Watch } from './watch.ts';

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

/** What a process has made of an event that it has consumed. */
type Consumption = 'published' | 'not published' | 'passed over' | 'dead letter' | 'under way';

/** Why a subscription did, or did not, get an event. */
type Verdict =
  | 'delivered'
  | 'executed with an error'
  | 'filtered out'
  | 'unauthorised'
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

interface Explained<Word> {
  readonly verdict: Word;
  /** One sentence each, from the event's beginning on. */
  readonly because: readonly string[];
}

export interface SubscriptionExplanation extends Explained<Verdict> {
  readonly field: string;
  readonly operation: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Explanation {
  /** Null: of another process. */
  readonly connection: string | null;
  readonly event: EventPlace;
  readonly recording: { readonly since: string; readonly until: string; readonly events: number };
  /** Null: this process has not consumed it since the recording began. */
  readonly consumed: Explained<Consumption> | null;
  readonly subscriptions: readonly SubscriptionExplanation[];
}

export function consumptionOf(record: EventRecord | undefined): Explanation['consumed'] {
  if (record === undefined) return null;
  const { undecodable, passedOver, routed, published } = record;
  if (undecodable !== undefined) {
    return { verdict: 'dead letter', because: [`${undecodable.reason}: ${undecodable.message}`] };
  }
  if (passedOver !== undefined) return { verdict: 'passed over', because: [passedOver] };
  if (routed === undefined) return null;
  const way = wayOf(routed);
  if (published === undefined) return { verdict: 'under way', because: way };
  return published
    ? { verdict: 'published', because: way }
    : { verdict: 'not published', because: [...way, 'no process had a subscriber of its channels'] };
}

function wayOf({ keys, channels }: NonNullable<EventRecord['routed']>): string[] {
  return [`routed by ${JSON.stringify(keys)} to ${channels.join(', ')}`];
}

/** @param record undefined: the process has not seen the event */
export function explained(
  { plan }: ExplainedSubscription,
  event: EventPlace,
  record: EventRecord | undefined,
  watch: Watch,
): SubscriptionExplanation {
  const { field, operation, variables } = plan;
  const [verdict, ...because] = reasonsFor(plan, event, record, watch);
  return { field, operation: operation.name ?? null, variables, verdict, because };
}

type Plan = ExplainedSubscription['plan'];

type Reasons = readonly [Verdict, ...string[]];

function reasonsFor(plan: Plan, event: EventPlace, record: EventRecord | undefined, watch: Watch): Reasons {
  if (plan.topic !== event.topic) return ['other topic', `${plan.field} gets events of ${plan.topic}`];
  if (record === undefined) {
    const since = new Date(watch.since).toISOString();
    return ['not recorded', `recorded since ${since}, and this process has not seen the event since`];
  }
  const group = groupOf(plan, record);
  if (group !== undefined) return inGroup(plan, group, watch);
  const consumed = consumptionOf(record);
  const { verdict, because = [] } = consumed ?? {};
  if (verdict === 'dead letter' || verdict === 'passed over') return [verdict, ...because];
  const { routed, duplicateOn } = record;
  if (routed !== undefined && !routed.channels.some((channel) => plan.channels.includes(channel))) {
    return ['other channel', ...wayOf(routed), `${plan.field} listens to ${plan.channels.join(', ')}`];
  }
  const again = duplicateOn === undefined ? [] : [`${duplicateOn} has carried it before`];
  if (verdict === 'not published' || verdict === 'under way') return [verdict, ...because, ...again];
  return [
    'did not reach this process',
    ...because,
    ...again,
    'it was published, and has not come over a channel of this subscription',
  ];
}

/** By its plan; a subscription whose graph has been replaced meanwhile has another one. */
function groupOf(plan: Plan, { groups }: EventRecord): GroupRecord | undefined {
  const found = [...groups];
  const [, group] =
    found.find(([traced]) => traced === plan) ?? found.find(([traced]) => sameAs(traced, plan)) ?? [];
  return group;
}

function sameAs(traced: TracedGroup, plan: Plan): boolean {
  return (
    traced.field === plan.field &&
    traced.operation.name === plan.operation.name &&
    traced.channels.join() === plan.channels.join() &&
    JSON.stringify(traced.variables) === JSON.stringify(plan.variables)
  );
}

function inGroup(plan: Plan, group: GroupRecord, { connection }: Watch): Reasons {
  const { state, passes, passing, subscribers, executions, errors, delivered, hasEnded } = group;
  if (state === 'held') return ['held by a throttle', 'a later event may take its place'];
  if (!passes) {
    const { directive, texts = [] } = plan.filter?.compared?.(group.event, connection?.viewer ?? null) ?? {};
    return directive === '@auth'
      ? ['unauthorised', ...texts.map((text) => `@auth: ${text}`)]
      : ['filtered out', ...texts];
  }
  const dispatched = `subscribers in its group: ${subscribers}; let through for ${passing} of them; executions so far: ${executions}`;
  if (delivered === undefined) {
    if (!hasEnded) return ['under way', dispatched];
    return [
      'skipped for slowness',
      dispatched,
      'more events than MAX_WAITING_EVENTS waited for this subscription',
    ];
  }
  const { at, isSlow, waitingBytes } = delivered;
  const because = [
    dispatched,
    sharingOf(delivered),
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

function sharingOf({ sharedBy, agreeOn }: NonNullable<GroupRecord['delivered']>): string {
  const read = agreeOn.length === 0 ? 'nothing of the viewer' : `the viewer's ${agreeOn.join(', ')}`;
  return sharedBy === 1
    ? `executed for this subscription alone; it has read ${read}`
    : `its result is shared by ${sharedBy} subscribers; it has read ${read}`;
}
