import type { HistorySettings } from '../../../src/events/history-settings.ts';
import { Random } from '../../helpers/random.ts';
import type { FieldName, TopicName } from '../world/graph.ts';
import { drawLogs } from './draw-logs.ts';
import { drawTombstones } from './draw-tombstones.ts';
import {
  drawCut,
  drawDeafness,
  drawFault,
  drawMove,
  drawOfGroup,
  drawTwoMasters,
  type Fault,
} from './draw.ts';
import {
  AMPLE,
  BUSY_MS,
  CHANNELS,
  type Plan,
  type PlannedClient,
  type PlannedEvent,
  type PlannedSubscription,
} from './plan.ts';

const MOST_FAULTS = 4;

export function planOf(seed: number): Plan {
  const random = Random.of(seed, 'plan');
  const pods = random.between(2, 3);
  const faults = Array.from({ length: random.between(1, MOST_FAULTS) }, () =>
    drawFault(random, random.between(0, BUSY_MS)),
  );
  faults.push(...drawCuts(random, faults));
  const topology = drawTopology(seed, faults);
  faults.sort((one, other) => one.atMs - other.atMs);
  const histories = drawHistories(random);
  const ofLogs = drawLogs(seed, faults);
  const ofKeys = drawTombstones(seed, pods, histories);
  const ofServers = drawOfServers(seed);
  return {
    seed,
    pods,
    topology,
    partitions: { news: random.between(1, 2), bids: random.between(1, 3) },
    sessionSeconds: random.between(6, 10),
    events: inTime([...drawEvents(random, faults), ...ofLogs.events, ...ofKeys.events, ...ofServers.events]),
    tombstones: ofKeys.tombstones,
    subscriptions: [
      ...Array.from({ length: random.between(2, 5) }, () => drawSubscription(random, pods, histories)),
      ...ofKeys.subscriptions,
    ],
    clients: [
      ...Array.from({ length: random.between(1, 4) }, () => drawClient(random, histories)),
      ...ofKeys.clients,
    ],
    histories,
    faults: inTime(
      [faults, ofLogs.faults, ofServers.faults, drawOfGroups(seed), drawOfListening(seed)].flat(),
    ),
    namesEpochs: ofLogs.namesEpochs,
    readsAgain: Random.of(seed, 'reading').chance(0.6),
    countsSubscribers: Random.of(seed, 'counting').chance(0.9),
  };
}

const inTime = <T extends { readonly atMs: number }>(things: readonly T[]): T[] =>
  things.toSorted((one, other) => one.atMs - other.atMs);

/** Has its own random numbers, so that other parts of plans stay. Half of the slots move close to another fault. */
function drawTopology(seed: number, faults: Fault[]): Plan['topology'] {
  const random = Random.of(seed, 'topology');
  if (random.chance(0.7)) return 'single';
  for (let count = random.between(0, 2); count > 0; count -= 1) {
    const near = random.chance(0.5) ? random.pick(faults).atMs : random.next() * BUSY_MS;
    faults.push(drawMove(random, Math.round(Math.max(0, near + (random.next() - 0.5) * 1_000))));
  }
  return 'cluster';
}

/** Has its own random numbers, so that other parts of plans stay as they are. */
function drawOfGroups(seed: number): Fault[] {
  const random = Random.of(seed, 'groups');
  return random.chance(0.8) ? [] : [drawOfGroup(random, random.between(0, BUSY_MS))];
}

/** Has its own random numbers, so that other parts of plans stay as they are. */
function drawOfListening(seed: number): Fault[] {
  const random = Random.of(seed, 'listening');
  return random.chance(0.9) ? [] : [drawDeafness(random, random.between(0, BUSY_MS))];
}

/** Has its own random numbers, so that other parts of plans stay as they are. */
function drawOfServers(seed: number): Pick<Plan, 'faults' | 'events'> {
  const random = Random.of(seed, 'servers');
  if (random.chance(0.8)) return { faults: [], events: [] };
  const faults = drawTwoMasters(random, random.between(0, BUSY_MS / 2));
  return { faults, events: drawEvents(random, faults) };
}

/** Draws cuts of clients, which are frequent; half of them are close to another fault. */
function drawCuts(random: Random, faults: readonly Fault[]): Fault[] {
  return Array.from({ length: random.between(0, 3) }, () => {
    const near = random.chance(0.5) ? random.pick(faults).atMs : random.next() * BUSY_MS;
    return drawCut(random, Math.round(Math.max(0, near + (random.next() - 0.5) * 1_000)));
  });
}

/** Some events come at any time, and some close to a fault, where events are lost most easily. */
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

function drawSubscription(random: Random, pods: number, histories: Plan['histories']): PlannedSubscription {
  return {
    ...drawAsked(random, histories),
    atMs: drawBegin(random),
    pod: random.between(0, pods - 1),
    staysMs: random.chance(0.2) ? random.next() * BUSY_MS : undefined,
  };
}

function drawClient(random: Random, histories: Plan['histories']): PlannedClient {
  return {
    ...drawAsked(random, histories),
    atMs: drawBegin(random),
    takesMs: random.chance(0.2) ? random.pick([5, 50, 300]) : 0,
  };
}

function drawAsked(random: Random, histories: Plan['histories']) {
  const topic = random.pick<TopicName>(['news', 'bids']);
  const some = CHANNELS.filter(() => random.chance(0.5));
  const picked = topic === 'news' ? [random.pick(CHANNELS)] : some;
  const channels = random.chance(0.3) || picked.length === 0 ? undefined : picked;
  const last = topic === 'news' ? 'lastNews' : 'lastBids';
  const field: FieldName = histories[topic]?.keepsAll === true && random.chance(0.5) ? last : topic;
  return { topic, field, channels };
}

const drawBegin = (random: Random): number => (random.chance(0.7) ? -1 : random.next() * BUSY_MS);

/** Most histories keep all events of a run; with others, clients may be away for longer than events are kept. */
function drawHistories(random: Random): Plan['histories'] {
  const histories: Partial<Record<TopicName, HistorySettings>> = {};
  for (const topic of ['news', 'bids'] as const) {
    if (random.chance(0.25)) continue;
    histories[topic] = {
      size: random.pick([1, 3, 10, AMPLE.size, AMPLE.size, AMPLE.size]),
      ttlMs: random.pick([4_000, 20_000, AMPLE.ttlMs, AMPLE.ttlMs, AMPLE.ttlMs]),
      keepsAll: random.chance(0.25),
    };
  }
  return histories;
}
