import type { Numbers } from './chaos-messages.ts';
import type { World } from './world.ts';

/** The bound on the p99 of the subscribers that stay: in the storm, as a multiple of the p99 before. */
const MOST_RATIO = 2;

/** The costs of a storm of clients that resume. */
interface StormFigures {
  /** The number of executions of events for clients that have missed these events. */
  readonly executions: number;
  /** The number of pairs of a group and an event that at least one client of the group still lacked, on each pod. */
  readonly pairs: number;
  /** The number of lists that pods have read from Redis. */
  readonly reads: number;
  readonly channels: number;
  /** The delays of the subscribers that stay, in ms. */
  readonly p99: { readonly before: number; readonly during: number };
}

export function describeStorm({ executions, pairs, reads, channels, p99 }: StormFigures): string {
  return [
    `${executions} executions for ${pairs} pairs of group and event`,
    `${reads} lists read of Redis for ${channels} channels of pods`,
    `p99 of those that stay: ${p99.before} ms before, ${p99.during} ms in the storm`,
  ].join('; ');
}

/** Describes each bound that the figures exceed. */
export function stormComplaints({ executions, pairs, reads, channels, p99 }: StormFigures): string[] {
  const over = (what: string, got: number, most: number): string[] =>
    got <= most ? [] : [`expected at most ${most} ${what}, got ${got}`];
  return [
    ...over('executions', executions, pairs),
    ...over('lists to be read of Redis', reads, channels),
    ...over('ms as the p99 of those that stay', p99.during, MOST_RATIO * p99.before),
  ];
}

/** Counts the executions of the pods and the reads of Redis from `start` to `stop`. */
export class StormCounters {
  readonly #world: World;
  readonly #executions: number;
  readonly #reads: number;
  readonly #places: readonly Readonly<Record<string, Numbers>>[];

  private constructor(
    world: World,
    executions: number,
    reads: number,
    places: readonly Readonly<Record<string, Numbers>>[],
  ) {
    this.#world = world;
    this.#executions = executions;
    this.#reads = reads;
    this.#places = places;
  }

  static async start(world: World): Promise<StormCounters> {
    const places = await Promise.all(world.crowd.map((clients) => clients.places()));
    return new StormCounters(world, await executionsOf(world), await readsOf(world), places);
  }

  async stop(p99: StormFigures['p99']): Promise<StormFigures> {
    const { pods, size, sent } = this.#world;
    const executions = (await executionsOf(this.#world)) - this.#executions;
    return {
      executions,
      // Counted after `executions`, so that each execution is of one of these pairs.
      pairs: pairsOf(this.#places, sent) * pods.now.length,
      reads: (await readsOf(this.#world)) - this.#reads,
      channels: size.channels * pods.now.length,
      p99,
    };
  }
}

/** @param places the places of each process of clients */
export function pairsOf(places: readonly Readonly<Record<string, Numbers>>[], sent: Numbers): number {
  const lowest = new Map<string, number>();
  for (const groups of places) {
    for (const [group, numbers] of Object.entries(groups)) {
      for (const [channel, last] of Object.entries(numbers)) {
        const pair = `${group} ${channel}`;
        lowest.set(pair, Math.min(lowest.get(pair) ?? last, last));
      }
    }
  }
  let pairs = 0;
  for (const [pair, last] of lowest) pairs += (sent[pair.slice(pair.lastIndexOf(' ') + 1)] ?? 0) - last;
  return pairs;
}

const executionsOf = ({ pods }: World): Promise<number> => pods.metric('sluice_replay_executions_total');

/** A pod asks for the first element of a list once each time it reads the list. */
const readsOf = ({ redis }: World): Promise<number> => redis.calls('lindex');
