import type { Random } from '../../helpers/random.ts';
import type { TopicName } from '../world/graph.ts';

/** Commands of transactions, and of scripts at their beginning, in their middle and at their end. */
const REFUSED = 'publish set get pubsub role eval hmget exists rpushx rpush ltrim pexpire lrange hset'.split(
  ' ',
);

const TOPICS: readonly TopicName[] = ['news', 'bids'];

/** Short ones fall between two beats of the gateway, long ones outlast its timeouts. */
const DURATIONS = [20, 200, 1_000, 3_000, 8_000, 15_000];

/** What is drawn for each fault. */
interface Drawn {
  readonly random: Random;
  readonly forMs: number;
  /** Which pod, by number: at its time, of those that live. */
  readonly pod: number;
}

type DrawnOfLog = Pick<Drawn, 'random'>;

const nothing = (): object => ({});
const lasting = ({ forMs }: Drawn) => ({ forMs });
const ofPod = ({ pod }: Drawn) => ({ pod });
const lastingOfPod = ({ forMs, pod }: Drawn) => ({ forMs, pod });

/** All that can go wrong: how often it is drawn, beside the others, and what is drawn. What lasts rights itself. */
const FAULTS = {
  'redis-crash': {
    weight: 3,
    draw: ({ random, forMs }: Drawn) => ({
      forMs,
      keepsData: random.chance(0.5),
      silent: random.chance(0.3),
    }),
  },
  failover: {
    weight: 5,
    draw: ({ random, forMs }: Drawn) => ({
      forMs,
      /** How far the replica is behind. */
      lagMs: random.pick([1, 50, 500, 3_000]),
      /** Whether the old master goes on as one for a while, and is then made a replica; or is gone, and comes back as one. */
      oldMaster: random.pick(['alive', 'dead'] as const),
      /** Whether its clients are disconnected when it is made a replica. */
      kicksClients: random.chance(0.5),
    }),
  },
  'kill-listeners': { weight: 3, draw: nothing },
  'kill-publishers': { weight: 2, draw: nothing },
  busy: {
    weight: 3,
    draw: ({ random, forMs }: Drawn) => ({ forMs, probability: random.pick([0.1, 0.5, 1]) }),
  },
  'no-memory': { weight: 1, draw: lasting },
  'not-permitted': {
    weight: 1,
    draw: ({ random, forMs }: Drawn) => ({ forMs, command: random.pick(REFUSED) }),
  },
  'slow-link': {
    weight: 3,
    draw: ({ random, ...drawn }: Drawn) => ({ ...drawn, latencyMs: random.pick([20, 200, 2_000]) }),
  },
  'blocked-link': { weight: 3, draw: lastingOfPod },
  'broken-listener': { weight: 3, draw: ofPod },
  'broken-publisher': { weight: 3, draw: ofPod },
  'half-open-listener': { weight: 3, draw: ofPod },
  /** Nothing comes over the listening connections that the pod makes, as if the network swallowed all answers. */
  'deaf-pod': {
    weight: 0,
    draw: ({ random, pod }: Pick<Drawn, 'random' | 'pod'>) => ({ forMs: random.between(4_000, 15_000), pod }),
  },
  'half-open-publisher': {
    weight: 2,
    draw: ({ random, pod }: Drawn) => ({ pod, direction: random.pick(['to', 'from', 'both'] as const) }),
  },
  'frozen-pod': { weight: 3, draw: lastingOfPod },
  'killed-pod': {
    weight: 3,
    draw: ({ random, ...drawn }: Drawn) => ({ ...drawn, silently: random.chance(0.3) }),
  },
  'rolled-pod': { weight: 2, draw: ofPod },
  /** A pod of a version that knows no history takes part for a while. */
  'older-pod': { weight: 1, draw: lasting },
  /** The process stands still, and goes on after that with what it was sent. */
  'redis-frozen': { weight: 2, draw: lasting },
  evicted: {
    weight: 2,
    draw: ({ random }: Drawn) => ({
      topic: random.pick(TOPICS),
      what: random.pick(['list', 'list', 'state', 'version'] as const),
      /** Which of its lists. */
      list: random.between(0, 3),
    }),
  },
  /** The client that has this number connects again after a while. */
  'cut-client': {
    weight: 1,
    draw: ({ random, forMs }: Omit<Drawn, 'pod'>) => ({ forMs, client: random.between(0, 3) }),
  },
  /** All clients are cut at once, and connect again at once. */
  storm: { weight: 1, draw: ({ forMs }: Omit<Drawn, 'pod'>) => ({ forMs }) },
  'brokers-away': { weight: 1, draw: lasting },
  'cut-off-from-kafka': { weight: 2, draw: lastingOfPod },
  'more-partitions': {
    weight: 2,
    draw: ({ random }: Drawn) => ({ topic: random.pick(TOPICS), count: random.between(1, 3) }),
  },
  'topic-made-anew': {
    weight: 2,
    draw: ({ random }: Drawn) => ({ topic: random.pick(TOPICS), partitions: random.between(1, 3) }),
  },
  /** The partitions of the topic get other leaders, which have all of their logs. */
  'leader-elected': { weight: 0, draw: ({ random }: DrawnOfLog) => ({ topic: random.pick(TOPICS) }) },
  /** One of the partitions loses the last records of its log: its next leader has not got them. */
  'end-of-log-lost': {
    weight: 0,
    draw: ({ random }: DrawnOfLog) => ({
      topic: random.pick(TOPICS),
      partition: random.between(0, 2),
      records: random.pick([1, 2, 5, 20]),
    }),
  },
  'topic-deleted': {
    weight: 0,
    draw: ({ random, forMs }: Omit<Drawn, 'pod'>) => ({
      topic: random.pick(TOPICS),
      /** When it is made anew; undefined: once all else is healed, and the other topics are consumed. */
      forMs: random.chance(0.5) ? forMs : undefined,
      partitions: random.between(1, 3),
    }),
  },
  /** A pod of another environment starts, and stops after a while: with the same brokers and group, and another Redis. */
  'pod-of-another-bus': { weight: 0, draw: ({ forMs }: Omit<Drawn, 'pod'>) => ({ forMs }) },
  /** The slot of the topic goes to another node, key by key; of a cluster. */
  'slot-moves': {
    weight: 0,
    draw: ({ random, forMs }: Omit<Drawn, 'pod'>) => ({ forMs, topic: random.pick(TOPICS) }),
  },
};

export type FaultKind = keyof typeof FAULTS;

export type FaultOf<Kind extends FaultKind> = {
  readonly kind: Kind;
  /** ms after the first event */
  readonly atMs: number;
} & Readonly<ReturnType<(typeof FAULTS)[Kind]['draw']>>;

/** One thing that goes wrong. */
export type Fault = { [Kind in FaultKind]: FaultOf<Kind> }[FaultKind];

const KINDS = (Object.keys(FAULTS) as FaultKind[]).flatMap((kind) =>
  Array.from({ length: FAULTS[kind].weight }, () => kind),
);

const drawDuration = (random: Random): number => Math.round(random.pick(DURATIONS) * (0.5 + random.next()));

export function drawCut(random: Random, atMs: number): Fault {
  const forMs = drawDuration(random);
  return random.chance(0.2)
    ? { kind: 'storm', atMs, ...FAULTS.storm.draw({ random, forMs }) }
    : { kind: 'cut-client', atMs, ...FAULTS['cut-client'].draw({ random, forMs }) };
}

export function drawDeafness(random: Random, atMs: number): Fault {
  const pod = random.between(0, 2);
  return { kind: 'deaf-pod', atMs, ...FAULTS['deaf-pod'].draw({ random, pod }) };
}

export function drawMove(random: Random, atMs: number): Fault {
  return { kind: 'slot-moves', atMs, ...FAULTS['slot-moves'].draw({ random, forMs: drawDuration(random) }) };
}

export function drawOfLog(
  random: Random,
  atMs: number,
): FaultOf<'end-of-log-lost'> | FaultOf<'leader-elected'> {
  return random.chance(0.5)
    ? { kind: 'end-of-log-lost', atMs, ...FAULTS['end-of-log-lost'].draw({ random }) }
    : { kind: 'leader-elected', atMs, ...FAULTS['leader-elected'].draw({ random }) };
}

/** A pod is killed whose way to Redis is slow: it has published what it has not committed, and another one publishes it again. */
export function drawRepetition(random: Random, atMs: number, beginMs: number): Fault[] {
  const pod = random.between(0, 2);
  const slow = { forMs: atMs - beginMs, pod, latencyMs: random.pick([20, 200, 900]) };
  return [
    { kind: 'slow-link', atMs: beginMs, ...slow },
    { kind: 'killed-pod', atMs, forMs: drawDuration(random), pod, silently: random.chance(0.3) },
  ];
}

export function drawOfGroup(random: Random, atMs: number): Fault {
  const drawn = { random, forMs: drawDuration(random) };
  return random.chance(0.5)
    ? { kind: 'topic-deleted', atMs, ...FAULTS['topic-deleted'].draw(drawn) }
    : { kind: 'pod-of-another-bus', atMs, ...FAULTS['pod-of-another-bus'].draw(drawn) };
}

export function drawFault(random: Random, atMs: number): Fault {
  const drawn = { random, forMs: drawDuration(random), pod: random.between(0, 2) };
  const kind = random.pick(KINDS);
  if (kind === 'cut-client' || kind === 'storm') return drawCut(random, atMs);
  return { kind, atMs, ...FAULTS[kind].draw(drawn) } as Fault;
}

/** What moves listeners and publishers while there are two masters. */
const MOVING = [
  'broken-listener',
  'half-open-listener',
  'kill-listeners',
  'broken-publisher',
  'killed-pod',
  'rolled-pod',
  'frozen-pod',
] as const satisfies readonly FaultKind[];

/** A failover whose old master goes on as one for a while; and what makes pods choose between the two. */
export function drawTwoMasters(random: Random, atMs: number): Fault[] {
  const failover = FAULTS.failover.draw({ random, forMs: drawDuration(random), pod: 0 });
  const moves = Array.from({ length: random.between(1, 4) }, (): Fault => {
    const kind = random.pick(MOVING);
    const drawn = { random, forMs: drawDuration(random), pod: random.between(0, 2) };
    return { kind, atMs: atMs + random.between(0, 8_000), ...FAULTS[kind].draw(drawn) } as Fault;
  });
  return [{ kind: 'failover', atMs, ...failover, oldMaster: 'alive' }, ...moves];
}
