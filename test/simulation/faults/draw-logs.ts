import { Random } from '../../helpers/random.ts';
import { drawOfLog, drawRepetition, type Fault } from './draw.ts';
import { BUSY_MS, CHANNELS, type Plan, type PlannedEvent } from './plan.ts';

type OfLogs = Pick<Plan, 'faults' | 'events' | 'namesEpochs'>;

const SEEDS_WITH = 0.3;

/** The longest time from the death of a pod whose events are published again to the fault of a log. */
const REPETITION_MS = 3_000;

/**
 * Faults of logs, with events around them: half of them close to another fault, some after the death of a pod that had
 * published events and not committed them. Has its own random numbers, so that other parts of plans stay as they are.
 */
export function drawLogs(seed: number, others: readonly Fault[]): OfLogs {
  const random = Random.of(seed, 'logs');
  const count = random.chance(SEEDS_WITH) ? random.between(1, 2) : 0;
  const faults: Fault[] = [];
  const events: PlannedEvent[] = [];
  for (let drawn = 0; drawn < count; drawn += 1) {
    const near = random.chance(0.5) ? random.pick(others).atMs : random.next() * BUSY_MS;
    const fault = drawOfLog(random, Math.round(Math.max(0, near + (random.next() - 0.3) * 3_000)));
    faults.push(fault);
    events.push(...drawEvents(random, fault.topic, fault.atMs, random.pick([50, 1_000, 6_000])));
    if (random.chance(0.6)) continue;
    const killedAt = Math.max(0, fault.atMs - Math.round(random.next() * REPETITION_MS));
    const slowAt = Math.max(0, killedAt - 1_500);
    faults.push(...drawRepetition(random, killedAt, slowAt));
    events.push(...drawEvents(random, fault.topic, (slowAt + killedAt) / 2, 1_500));
  }
  return { faults, events, namesEpochs: random.chance(0.5) };
}

function drawEvents(random: Random, topic: PlannedEvent['topic'], aboutMs: number, withinMs: number) {
  return Array.from({ length: random.between(0, 8) }, () => ({
    atMs: Math.max(0, aboutMs + (random.next() - 0.5) * withinMs),
    topic,
    channel: random.pick(CHANNELS),
    malformed: false,
  }));
}
