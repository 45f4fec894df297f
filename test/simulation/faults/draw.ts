import type { Random } from '../../helpers/random.ts';
import type { TopicName } from '../world/graph.ts';

/** Commands of transactions, and commands at the beginning, in the middle and at the end of scripts. */
const REFUSED = 'publish set get pubsub role eval hmget exists rpushx rpush ltrim pexpire lrange hset'.split(
  ' ',
);

const TOPICS: readonly TopicName[] = ['news', 'bids'];

/** Short durations fall between two heartbeats of the gateway, long ones outlast its timeouts. */
const DURATIONS = [20, 200, 1_000, 3_000, 8_000, 15_000];

/** The values that are drawn for each fault. */
interface Drawn {
  readonly random: Random;
  readonly forMs: number;
  /** The number of the pod, among the pods that live at the time of the fault. */
  readonly pod: number;
}

type DrawnOfLog = Pick<Drawn, 'random'>;

const nothing = (): object => ({});
const lasting = ({ forMs }: Drawn) => ({ forMs });
const ofPod = ({ pod }: Drawn) => ({ pod });
const lastingOfPod = ({ forMs, pod }: Drawn) => ({ forMs, pod });

/** All faults: how often each is drawn, and its drawn values. A fault with `forMs` is repaired after that time. */
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
      /** The replica's lag. */
      lagMs: random.pick([1, 50, 500, 3_000]),
      /** The old master stays a master for a while and then becomes a replica, or it ends and returns as a replica. */
      oldMaster: random.pick(['alive', 'dead'] as const),
      /** Whether the old master's clients are disconnected when it becomes a replica. */
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
  /** The pod's listening connections get no bytes, as if the network swallowed all answers. */
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
  /** A pod of a version without histories takes part for a while. */
  'older-pod': { weight: 1, draw: lasting },
  /** The process stands still, and afterwards handles what was sent to it meanwhile. */
  'redis-frozen': { weight: 2, draw: lasting },
  evicted: {
    weight: 2,
    draw: ({ random }: Drawn) => ({
      topic: random.pick(TOPICS),
      what: random.pick(['list', 'list', 'state', 'version'] as const),
      /** The number of the list that is evicted. */
      list: random.between(0, 3),
    }),
  },
  /** Cuts the client with this number, which connects again after a while. */
  'cut-client': {
    weight: 1,
    draw: ({ random, forMs }: Omit<Drawn, 'pod'>) => ({ forMs, client: random.between(0, 3) }),
  },
  /** Cuts all clients at once, which connect again at once after a while. */
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
  /** The topic's partitions get other leaders, which have their complete logs. */
  'leader-elected': { weight: 0, draw: ({ random }: DrawnOfLog) => ({ topic: random.pick(TOPICS) }) },
  /** One partition loses the last records of its log, which its next leader lacks. */
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
      /** When the topic is made anew; undefined: after all repairs, when the other topics are consumed. */
      forMs: random.chance(0.5) ? forMs : undefined,
      partitions: random.between(1, 3),
    }),
  },
  /** A pod of another environment runs for a while, with the same brokers and group, and with another Redis. */
  'pod-of-another-bus': { weight: 0, draw: ({ forMs }: Omit<Drawn, 'pod'>) => ({ forMs }) },
  /** The topic's slot moves to another node of the cluster, key by key. */
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

/** One fault of a plan. */
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

/** Kills a pod with a slow way to Redis: another pod publishes again what it has published and not committed. */
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

/** Faults that make listeners and publishers choose a master while there are two. */
const MOVING = [
  'broken-listener',
  'half-open-listener',
  'kill-listeners',
  'broken-publisher',
  'killed-pod',
  'rolled-pod',
  'frozen-pod',
] as const satisfies readonly FaultKind[];

/** A failover whose old master stays a master for a while, with faults that make pods choose one of the two. */
export function drawTwoMasters(random: Random, atMs: number): Fault[] {
  const failover = FAULTS.failover.draw({ random, forMs: drawDuration(random), pod: 0 });
  const moves = Array.from({ length: random.between(1, 4) }, (): Fault => {
    const kind = random.pick(MOVING);
    const drawn = { random, forMs: drawDuration(random), pod: random.between(0, 2) };
    return { kind, atMs: atMs + random.between(0, 8_000), ...FAULTS[kind].draw(drawn) } as Fault;
  });
  return [{ kind: 'failover', atMs, ...failover, oldMaster: 'alive' }, ...moves];
}
