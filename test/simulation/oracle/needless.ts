import type { Fault, FaultKind } from '../faults/draw.ts';
import { AMPLE, type Plan } from '../faults/plan.ts';
import type { Asked, TopicName } from '../world/graph.ts';
import type { World } from '../world/world.ts';
import type { Receiver } from './receiver.ts';

/** Faults through which a topic with a history loses nothing. */
const HARMLESS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'kill-listeners',
  'kill-publishers',
  'broken-listener',
  'broken-publisher',
  'half-open-listener',
  'frozen-pod',
  'killed-pod',
  'rolled-pod',
  'redis-frozen',
  'cut-client',
  'storm',
  'brokers-away',
  'cut-off-from-kafka',
  'more-partitions',
  'topic-made-anew',
  'leader-elected',
  'end-of-log-lost',
  'topic-deleted',
  'pod-of-another-bus',
]);

/** A pod that has listened to a topic for less than this may not know its position yet, and then tells. */
const JUST_JOINED_MS = 5_000;

/** @returns a violation if a receiver was told that events may be missing, and none can have been */
export function needless({ plan }: World, { name, pod, asked, told }: Receiver): string[] {
  const unexcused = told.filter(({ afterMs }) =>
    afterMs === undefined ? !beganWithEarlierEvents(plan, asked) : afterMs > JUST_JOINED_MS,
  );
  if (unexcused.length === 0 || mayLose(plan, asked.topic)) return [];
  return [
    `${name} on ${pod} was told ${unexcused.length} times that events may be missing, though all are kept`,
  ];
}

/**
 * A subscription to several channels that begins with the last events has the cursor of the last one until another
 * comes. For a channel that had no events and no subscribers, events from then to the subscription are not known.
 */
function beganWithEarlierEvents({ histories }: Plan, { topic, channels = [] }: Asked): boolean {
  return histories[topic]?.keepsAll === true && channels.length > 1;
}

/** While a slot moves for this long, channels that clients ask for meanwhile can not be kept. */
const LONG_MS = 10_000;

/** The latency of one direction at which connections can't be made in time. */
const SLOW_MS = 1_000;

/** The longest time from the end of a slot's move to a telling about a channel that could not be kept. */
const AFTER_MOVE_MS = 3_000;

function isHarmless(fault: Fault, plan: Plan): boolean {
  // Started anew, the server looks like another one, and without counts a pod can't see that it does not listen there yet.
  if (fault.kind === 'redis-crash') return fault.keepsData && plan.countsSubscribers;
  // The script may make a channel's list, and its reply be lost, which tells the pod since when the list is complete.
  if (fault.kind === 'blocked-link') return !asksWithin(fault.atMs, fault.atMs + fault.forMs, plan);
  if (fault.kind === 'slot-moves') return fault.forMs < LONG_MS && isUndisturbed(fault, fault.forMs, plan);
  if (fault.kind === 'slow-link') return fault.latencyMs < SLOW_MS;
  return HARMLESS.has(fault.kind);
}

/**
 * Whether no client asks for a new channel while a fault lasts. While its slot moves, a channel without a list gets
 * none, and then can't be read when subscribers are sent to the other node.
 */
function isUndisturbed(fault: Fault, forMs: number, plan: Plan): boolean {
  const [from, to] = [fault.atMs, fault.atMs + forMs + AFTER_MOVE_MS];
  if (asksWithin(from, to, plan)) return false;
  return plan.faults.every((other) => {
    const ends = other.atMs + ('forMs' in other ? (other.forMs ?? 0) : 0) + AFTER_MOVE_MS;
    return other === fault || ends < from || other.atMs > to;
  });
}

/** Whether a client subscribes within this time. */
function asksWithin(from: number, to: number, { subscriptions, clients }: Plan): boolean {
  return [...subscriptions, ...clients].some(({ atMs }) => atMs >= from && atMs <= to);
}

function mayLose(plan: Plan, topic: TopicName): boolean {
  const { histories, faults } = plan;
  const history = histories[topic];
  if (history === undefined || history.size < AMPLE.size || history.ttlMs < AMPLE.ttlMs) return true;
  return !faults.every((fault) => isHarmless(fault, plan));
}
