import type { Defect } from './defects/defect.ts';
import { inflict } from './faults/inflict.ts';
import { BUSY_MS, type Plan, type PlannedSubscription } from './faults/plan.ts';
import { judge } from './oracle/judge.ts';
import { Random } from '../helpers/random.ts';
import { replaceGlobals } from './time/globals.ts';
import { VirtualTime } from './time/virtual-time.ts';
import type { SimulatedGraph, TopicName } from './world/graph.ts';
import type { SimulatedClient } from './world/client.ts';
import type { SimulatedPod } from './world/pod.ts';
import { GROUP, World } from './world/world.ts';

export interface Outcome {
  /** Violations, in words; empty: there are none. */
  readonly violations: readonly string[];
  readonly deliveries: number;
  /** How often a subscriber was told that events may be missing. */
  readonly told: number;
  /** How often a client has connected again without missing an event. */
  readonly resumed: number;
  readonly trace: readonly string[];
}

interface RunOptions {
  readonly plan: Plan;
  readonly shared: SimulatedGraph;
  readonly isTraced?: boolean;
  /** The defect that all pods get on purpose. */
  readonly defect?: Defect;
}

/** The longest time until pods are ready, in ms. */
const START_MS = 60_000;

/** The time between the start and the first event, in which the world becomes quiet. */
const CALM_MS = 3_000;

/** The time between two repairs: all repairs at once would be a fault of their own. */
const BETWEEN_REPAIRS_MS = 2_000;

/** The longest time from the last repair until all events are consumed. */
const RECOVERY_MS = 120_000;

/** A pod notices a half-open listening connection within this time. */
const NOTICED_MS = 15_000;

/** The longest time until the last events arrive. */
const PROBE_MS = 15_000;

const TOPICS: readonly TopicName[] = ['news', 'bids'];
const CHANNELS = ['a', 'b', 'c'];

/** Lets time pass. @returns whether `until` has become true */
type Go = (until: () => boolean, withinMs: number) => Promise<boolean>;

const never = (): boolean => false;

/** Runs one plan from its start to its end, and judges the run. Only one plan runs at a time. */
export async function run({ plan, shared, isTraced = false, defect = {} }: RunOptions): Promise<Outcome> {
  const time = new VirtualTime();
  const random = Random.of(plan.seed, 'globals');
  const violations: string[] = [];
  const { stackTraceLimit } = Error;
  // Stacks take a third of the time, and a violation is examined in a second run anyway.
  if (!isTraced) Error.stackTraceLimit = 0;
  const restoreGlobals = replaceGlobals(time, () => random.next());
  const onRejection = (error: unknown): void =>
    void violations.push(`unhandled rejection: ${stackOf(error)}`);
  process.on('unhandledRejection', onRejection);
  const world = new World({ plan, time, shared, isTraced, defect });
  const go: Go = async (until, withinMs) => {
    const end = time.now + withinMs;
    let isDue = false;
    const timer = time.at(end, undefined, () => (isDue = true));
    await time.run(
      () => isDue || until(),
      (error) => violations.push(`thrown: ${stackOf(error)}`),
    );
    time.cancel(timer);
    return until();
  };
  try {
    violations.push(...(await play(world, plan, go)));
    // Judged before the pods are stopped, which ends the subscribers.
    violations.push(...judge(world));
    violations.push(...(await stop(world, go)));
  } finally {
    restoreGlobals();
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', onRejection);
  }
  const { subscribers, clients, trace } = world;
  const all = [...subscribers, ...clients];
  return {
    violations,
    deliveries: all.flatMap(({ deliveries }) => deliveries).length,
    told: all.flatMap(({ told }) => told).length,
    resumed: clients.reduce((sum, { resumed }) => sum + resumed, 0),
    trace: trace.lines,
  };
}

/** @returns conditions that did not come about in time */
async function play(world: World, plan: Plan, go: Go): Promise<string[]> {
  const { kafka, network, repairs, trace, gone } = world;
  for (let count = 0; count < plan.pods; count += 1) world.startPod();
  for (const subscription of plan.subscriptions) if (subscription.atMs < 0) subscribe(world, subscription);
  for (const client of plan.clients) if (client.atMs < 0) world.connect(client);
  if (!(await go(() => isSettled(world), START_MS))) return [`not ready: ${unready(world)}`];
  await go(never, CALM_MS);
  schedule(world, plan);
  // Events and faults close to another fault may come later than BUSY_MS.
  const times = [...plan.faults, ...plan.events].map(({ atMs }) => atMs);
  await go(never, Math.max(BUSY_MS, ...times));
  while (repairs.left > 0) {
    repairs.next();
    await go(never, BETWEEN_REPAIRS_MS);
  }
  await go(never, network.blockedForMs);
  if (gone.size > 0 && !(await consumesOthers(world, go))) {
    return [`not consumed while ${[...gone.keys()].join(', ')} was missing: the other topics`];
  }
  for (const makeAnew of gone.values()) makeAnew();
  trace.add('world', () => 'all is healed');
  if (!(await go(() => isSettled(world) && world.isConsumed, RECOVERY_MS))) {
    return [`not recovered: ${unready(world)}; ${world.isConsumed ? 'all' : 'not all'} is consumed`];
  }
  await go(never, NOTICED_MS);
  // What pods read again meanwhile may have been too much for a slow client, which then has to come again.
  if (!(await go(() => isSettled(world), RECOVERY_MS))) return [`not settled: ${unready(world)}`];
  const slowestMs = Math.max(0, ...plan.clients.map(({ takesMs }) => takesMs));
  for (const topic of TOPICS) {
    for (const [partition] of kafka.topic(topic).partitions.entries()) {
      for (const channel of CHANNELS) world.produce(topic, channel, { isProbe: true, partition });
      // The pod would close a slow client for which too many probes wait.
      if (slowestMs > 0) await go(never, CHANNELS.length * slowestMs);
    }
  }
  await go(never, PROBE_MS);
  return [];
}

/** Whether the present topics are consumed while others are missing. */
async function consumesOthers(world: World, go: Go): Promise<boolean> {
  await go(never, NOTICED_MS);
  for (const topic of TOPICS) if (world.kafka.has(topic)) world.produce(topic, 'a');
  return go(() => world.isConsumed, RECOVERY_MS);
}

/** @returns conditions that did not come about in time */
async function stop({ time, livePods }: World, go: Go): Promise<string[]> {
  const stopped = Promise.all(
    livePods.map(
      (pod) =>
        new Promise<void>((resolve) => {
          time.after(0, pod.owner, () => void pod.stop().then(resolve));
        }),
    ),
  );
  let isStopped = false;
  void stopped.then(() => (isStopped = true));
  return (await go(() => isStopped, RECOVERY_MS)) ? [] : ['not stopped'];
}

function schedule(world: World, plan: Plan): void {
  const { time } = world;
  const begin = time.now;
  const at = (atMs: number, happen: () => void): void => void time.at(begin + atMs, undefined, happen);
  for (const { atMs, topic, channel, malformed } of plan.events) {
    at(atMs, () => world.produce(topic, channel, { malformed }));
  }
  for (const { atMs, topic, channel } of plan.tombstones) at(atMs, () => world.remove(topic, channel));
  for (const fault of plan.faults) at(fault.atMs, () => inflict(world, fault));
  for (const subscription of plan.subscriptions) {
    const { atMs } = subscription;
    if (atMs >= 0) at(atMs, () => subscribe(world, subscription));
  }
  for (const client of plan.clients) if (client.atMs >= 0) at(client.atMs, () => world.connect(client));
}

function subscribe(world: World, subscription: PlannedSubscription): void {
  const subscriber = world.subscribe(subscription);
  const { staysMs } = subscription;
  if (subscriber === undefined || staysMs === undefined) return;
  world.time.after(staysMs, undefined, () => world.unsubscribe(subscriber));
}

function isSettled(world: World): boolean {
  return (
    world.kafka.group(GROUP).isStable &&
    world.livePods.every(({ isReady }) => isReady) &&
    world.clients.every((client) => client.isSettled) &&
    world.subscribers.every(
      ({ pod, joinedAt, endedAt }) =>
        joinedAt !== undefined || endedAt !== undefined || !world.livePods.some(({ name }) => name === pod),
    )
  );
}

function unready({ livePods, clients }: World): string {
  const pods: readonly (SimulatedPod | SimulatedClient)[] = livePods.filter(({ isReady }) => !isReady);
  return [...pods, ...clients.filter((client) => !client.isSettled)].map(({ name }) => name).join(', ');
}

function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}
