import type { Fault, FaultKind } from '../faults/draw.ts';
import { AMPLE, type Plan } from '../faults/plan.ts';
import type { Asked, TopicName } from '../world/graph.ts';
import type { World } from '../world/world.ts';
import type { Receiver } from './receiver.ts';

/** Through these a topic with history loses nothing. */
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

/** A pod that listens to a topic for so short a time may not know yet where it stands: then it tells. */
const JUST_JOINED_MS = 5_000;

/** @returns where one was told that events may be missing, and none can have been */
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
 * Who begins with the last events of several channels has the cursor of the last of these until another one comes. Of a channel on
 * which there was none, and which nobody had asked for, it is not known by then what came between that event and the asking.
 */
function beganWithEarlierEvents({ histories }: Plan, { topic, channels = [] }: Asked): boolean {
  return histories[topic]?.keepsAll === true && channels.length > 1;
}

/** While a slot moves for so long, channels that its clients ask for meanwhile can not be kept. */
const LONG_MS = 10_000;

/** One way, so that a connection can't be made in time. */
const SLOW_MS = 1_000;

/** What is told of a channel that could not be kept comes so long after the slot has moved, at most. */
const AFTER_MOVE_MS = 3_000;

function isHarmless(fault: Fault, plan: Plan): boolean {
  if (fault.kind === 'redis-crash') return fault.keepsData;
  // The list of a channel may be made, and the reply be lost that tells the pod from where on it has all of the channel.
  if (fault.kind === 'blocked-link') return !asksWithin(fault.atMs, fault.atMs + fault.forMs, plan);
  if (fault.kind === 'slot-moves') return fault.forMs < LONG_MS && isUndisturbed(fault, fault.forMs, plan);
  if (fault.kind === 'slow-link') return fault.latencyMs < SLOW_MS;
  return HARMLESS.has(fault.kind);
}

/**
 * Whether no channel is asked for anew while a fault lasts. While its slot moves, a channel that has no list yet gets none, so
 * that nothing of it can be read once subscribers are sent to the other node.
 */
function isUndisturbed(fault: Fault, forMs: number, plan: Plan): boolean {
  const [from, to] = [fault.atMs, fault.atMs + forMs + AFTER_MOVE_MS];
  if (asksWithin(from, to, plan)) return false;
  return plan.faults.every((other) => {
    const ends = other.atMs + ('forMs' in other ? (other.forMs ?? 0) : 0) + AFTER_MOVE_MS;
    return other === fault || ends < from || other.atMs > to;
  });
}

/** Whether anyone subscribes within this time. */
function asksWithin(from: number, to: number, { subscriptions, clients }: Plan): boolean {
  return [...subscriptions, ...clients].some(({ atMs }) => atMs >= from && atMs <= to);
}

function mayLose(plan: Plan, topic: TopicName): boolean {
  const { histories, faults } = plan;
  const history = histories[topic];
  if (history === undefined || history.size < AMPLE.size || history.ttlMs < AMPLE.ttlMs) return true;
  return !faults.every((fault) => isHarmless(fault, plan));
}
