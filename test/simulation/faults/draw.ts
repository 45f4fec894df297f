import type { Random } from '../../helpers/random.ts';
import type { TopicName } from '../world/graph.ts';
import type { Fault, FaultKind } from './fault.ts';

/** How often each kind is drawn, beside the others. */
const WEIGHTS: Readonly<Record<Exclude<FaultKind, 'slot-moves'>, number>> = {
  'redis-crash': 3,
  failover: 5,
  'kill-listeners': 3,
  'kill-publishers': 2,
  busy: 3,
  'no-memory': 1,
  'not-permitted': 1,
  'slow-link': 3,
  'blocked-link': 3,
  'broken-listener': 3,
  'broken-publisher': 3,
  'half-open-listener': 3,
  'half-open-publisher': 2,
  'frozen-pod': 3,
  'killed-pod': 3,
  'rolled-pod': 2,
  'older-pod': 1,
  'redis-frozen': 2,
  evicted: 2,
  'cut-client': 1,
  storm: 1,
  'brokers-away': 1,
  'cut-off-from-kafka': 2,
  'more-partitions': 2,
  'topic-made-anew': 2,
};

const KINDS = (Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]).flatMap((kind) =>
  Array.from({ length: WEIGHTS[kind] }, () => kind),
);

/** Commands of transactions, and of scripts at their beginning, in their middle and at their end. */
const REFUSED = [
  'publish',
  'set',
  'get',
  'pubsub',
  'role',
  'eval',
  'hmget',
  'exists',
  'rpushx',
  'rpush',
  'ltrim',
  'pexpire',
  'lrange',
  'hset',
];

const TOPICS: readonly TopicName[] = ['news', 'bids'];

/** Short ones fall between two beats of the gateway, long ones outlast its timeouts. */
const DURATIONS = [20, 200, 1_000, 3_000, 8_000, 15_000];

const drawDuration = (random: Random): number => Math.round(random.pick(DURATIONS) * (0.5 + random.next()));

export function drawCut(random: Random, atMs: number): Fault {
  const forMs = drawDuration(random);
  return random.chance(0.2)
    ? { kind: 'storm', atMs, forMs }
    : { kind: 'cut-client', atMs, forMs, client: random.between(0, 3) };
}

export function drawMove(random: Random, atMs: number): Fault {
  return { kind: 'slot-moves', atMs, forMs: drawDuration(random), topic: random.pick(TOPICS) };
}

export function drawFault(random: Random, atMs: number): Fault {
  const forMs = drawDuration(random);
  const pod = random.between(0, 2);
  const kind = random.pick(KINDS);
  switch (kind) {
    case 'redis-crash':
      return { kind, atMs, forMs, keepsData: random.chance(0.5), silent: random.chance(0.3) };
    case 'failover':
      return {
        kind,
        atMs,
        forMs,
        lagMs: random.pick([1, 50, 500, 3_000]),
        oldMaster: random.pick(['alive', 'dead']),
        kicksClients: random.chance(0.5),
      };
    case 'kill-listeners':
    case 'kill-publishers':
      return { kind, atMs };
    case 'busy':
      return { kind, atMs, forMs, probability: random.pick([0.1, 0.5, 1]) };
    case 'no-memory':
    case 'older-pod':
    case 'redis-frozen':
    case 'brokers-away':
      return { kind, atMs, forMs };
    case 'not-permitted':
      return {
        kind,
        atMs,
        forMs,
        command: random.pick(REFUSED),
      };
    case 'slow-link':
      return { kind, atMs, forMs, pod, latencyMs: random.pick([20, 200, 2_000]) };
    case 'blocked-link':
    case 'frozen-pod':
    case 'cut-off-from-kafka':
      return { kind, atMs, forMs, pod };
    case 'broken-listener':
    case 'broken-publisher':
    case 'half-open-listener':
    case 'rolled-pod':
      return { kind, atMs, pod };
    case 'half-open-publisher':
      return { kind, atMs, pod, direction: random.pick(['to', 'from', 'both']) };
    case 'killed-pod':
      return { kind, atMs, forMs, pod, silently: random.chance(0.3) };
    case 'evicted':
      return {
        kind,
        atMs,
        topic: random.pick(TOPICS),
        what: random.pick(['list', 'list', 'state', 'version']),
        list: random.between(0, 3),
      };
    case 'cut-client':
    case 'storm':
      return drawCut(random, atMs);
    case 'more-partitions':
      return { kind, atMs, topic: random.pick(TOPICS), count: random.between(1, 3) };
    case 'topic-made-anew':
      return { kind, atMs, topic: random.pick(TOPICS), partitions: random.between(1, 3) };
  }
}
