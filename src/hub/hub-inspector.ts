import type { Group } from './group.ts';
import { largest } from '../support/largest.ts';
import type { FairLimiter } from '../support/fair-limiter.ts';
import { Table } from '../support/table.ts';
import { channelTable, type InspectedChannel } from './channel-table.ts';
import { groupTable, type InspectedGroup } from './group-table.ts';

interface GroupInspection {
  readonly field: string;
  readonly document: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
  readonly subscribers: number;
  readonly live: boolean;
  readonly events: number;
  readonly executions: number;
  readonly waiting: number;
}

interface ChannelInspection {
  readonly name: string;
  readonly groups: number;
  readonly subscribers: number;
}

/** What a hub holds at this moment. */
interface HubInspection {
  readonly groups: {
    readonly count: number;
    readonly subscribers: number;
    readonly waiting: number;
    /** By subscribers. */
    readonly largest: readonly GroupInspection[];
  };
  readonly channels: {
    readonly count: number;
    /** By groups. */
    readonly largest: readonly ChannelInspection[];
  };
  /**
   * Of the whole pod. `running`: asynchronous executions. `waiting`: those that wait for a place, including a group's
   * first. `late`: synchronous ones that wait because the turn of the event loop in which they were due was at its limit.
   */
  readonly executions: { readonly running: number; readonly waiting: number; readonly late: number };
}

interface Limiters {
  readonly limiter: FairLimiter;
  readonly late: FairLimiter;
}

/** A look at what a hub holds. */
export class HubInspector {
  readonly groups: Table<InspectedGroup>;
  readonly channels: Table<InspectedChannel>;
  readonly #groups: ReadonlyMap<unknown, ReadonlyMap<string, Group>>;
  readonly #channels: ReadonlyMap<string, InspectedChannel>;
  readonly #limiters: Limiters;

  /** @param groups by operation and variables, now and later */
  constructor(
    groups: ReadonlyMap<unknown, ReadonlyMap<string, Group>>,
    channels: ReadonlyMap<string, InspectedChannel>,
    limiters: Limiters,
  ) {
    this.#groups = groups;
    this.#channels = channels;
    this.#limiters = limiters;
    this.groups = groupTable(groups);
    this.channels = channelTable(channels);
  }

  /** The groups with a subscriber of this connection. Looks at all subscribers of the process. */
  groupsOf(owner: object): Group[] {
    const groups = [...this.#groups.values()].flatMap((byVariables) => [...byVariables.values()]);
    return groups.filter((group) => group.isOf(owner));
  }

  /** Counts of all groups and channels, and the largest of them, up to `limit` of each. */
  inspect(limit: number): HubInspection {
    const groups = [...this.#groups.values()].flatMap((byVariables) => [...byVariables.values()]);
    const { limiter, late } = this.#limiters;
    const { running, waiting } = limiter;
    return {
      groups: {
        count: groups.length,
        subscribers: subscribersOf(groups),
        waiting: groups.reduce((sum, { counts }) => sum + counts.waiting, 0),
        largest: largest(groups, limit, ({ size }) => size).map(inspectGroup),
      },
      channels: {
        count: this.#channels.size,
        largest: largest(this.#channels.values(), limit, (channel) => channel.groups.size).map(
          inspectChannel,
        ),
      },
      executions: { running, waiting, late: late.waiting },
    };
  }
}

function inspectGroup({ plan, size, counts }: InspectedGroup): GroupInspection {
  const { operation, variables, channels, field } = plan;
  const { query: document, name: operationName } = operation;
  const { live, events, costs, waiting } = counts;
  const { executions } = costs;
  return {
    field,
    document,
    operationName,
    variables,
    channels,
    subscribers: size,
    live,
    events,
    executions,
    waiting,
  };
}

function inspectChannel({ name, groups }: InspectedChannel): ChannelInspection {
  return { name, groups: groups.size, subscribers: subscribersOf(groups) };
}

function subscribersOf(groups: Iterable<{ readonly size: number }>): number {
  let subscribers = 0;
  for (const { size } of groups) subscribers += size;
  return subscribers;
}
