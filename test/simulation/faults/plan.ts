import { Random } from '../../helpers/random.ts';
import type { TopicName } from '../world/graph.ts';
import { drawFault } from './draw.ts';
import type { Fault } from './fault.ts';

interface PlannedEvent {
  readonly atMs: number;
  readonly topic: TopicName;
  readonly channel: string;
  readonly malformed: boolean;
}

export interface PlannedSubscription {
  /** Below 0: before the first event. */
  readonly atMs: number;
  readonly pod: number;
  readonly topic: TopicName;
  readonly channels: readonly string[] | undefined;
  /** How long until it leaves; undefined: to the end. */
  readonly staysMs: number | undefined;
}

/** All that a run does, drawn from its seed before it begins: so parts of it can be left out. */
export interface Plan {
  readonly seed: number;
  readonly pods: number;
  readonly partitions: Readonly<Record<TopicName, number>>;
  readonly sessionSeconds: number;
  readonly events: readonly PlannedEvent[];
  readonly subscriptions: readonly PlannedSubscription[];
  readonly faults: readonly Fault[];
}

/** Events and faults come within this time: ms. */
export const BUSY_MS = 15_000;

const CHANNELS = ['a', 'b', 'c'];
const MOST_FAULTS = 4;

export function planOf(seed: number): Plan {
  const random = Random.of(seed, 'plan');
  const pods = random.between(2, 3);
  const faults = Array.from({ length: random.between(1, MOST_FAULTS) }, () =>
    drawFault(random, random.between(0, BUSY_MS)),
  ).toSorted((one, other) => one.atMs - other.atMs);
  return {
    seed,
    pods,
    partitions: { news: random.between(1, 2), bids: random.between(1, 3) },
    sessionSeconds: random.between(6, 10),
    events: drawEvents(random, faults),
    subscriptions: Array.from({ length: random.between(3, 7) }, () => drawSubscription(random, pods)),
    faults,
  };
}

/** Some at any time, and some close to a fault, which is where they are lost. */
function drawEvents(random: Random, faults: readonly Fault[]): PlannedEvent[] {
  const times: number[] = [];
  for (let count = random.between(10, 60); count > 0; count -= 1) times.push(random.next() * BUSY_MS);
  for (const { atMs } of faults) {
    const within = random.pick([5, 50, 500, 4_000]);
    for (let count = random.between(0, 8); count > 0; count -= 1) {
      times.push(Math.max(0, atMs + (random.next() - 0.3) * within));
    }
  }
  return times
    .toSorted((one, other) => one - other)
    .map((atMs) => ({
      atMs,
      topic: random.pick<TopicName>(['news', 'bids']),
      channel: random.pick(CHANNELS),
      malformed: random.chance(0.02),
    }));
}

function drawSubscription(random: Random, pods: number): PlannedSubscription {
  const topic = random.pick<TopicName>(['news', 'bids']);
  const some = CHANNELS.filter(() => random.chance(0.5));
  const picked = topic === 'news' ? [random.pick(CHANNELS)] : some;
  const atMs = random.chance(0.7) ? -1 : random.next() * BUSY_MS;
  return {
    atMs,
    pod: random.between(0, pods - 1),
    topic,
    channels: random.chance(0.3) || picked.length === 0 ? undefined : picked,
    staysMs: random.chance(0.2) ? random.next() * BUSY_MS : undefined,
  };
}
