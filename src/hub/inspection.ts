import { largest } from '../support/largest.ts';
import type { FairLimiter } from '../support/fair-limiter.ts';

/** Of a group since it was made, except where it says otherwise. */
export interface GroupCounts {
  /** Its channels have been joined. */
  readonly live: boolean;
  /** Dispatched by its channels, copies left out. */
  readonly events: number;
  readonly executions: number;
  /** Events that are pending now: being executed, or behind one that is. */
  readonly waiting: number;
}

/** A group, as far as it is inspected. */
interface Group {
  readonly size: number;
  readonly counts: GroupCounts;
  readonly plan: {
    readonly field: string;
    readonly operation: { readonly query: string; readonly name: string | undefined };
    readonly variables: Readonly<Record<string, unknown>>;
    readonly channels: readonly string[];
  };
}

interface GroupInspection extends GroupCounts {
  readonly field: string;
  readonly document: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
  readonly subscribers: number;
}

interface ChannelInspection {
  readonly name: string;
  readonly groups: number;
  readonly subscribers: number;
}

/** What a hub holds at this moment. */
export interface HubInspection {
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
   * In the whole pod: asynchronous ones that run; those that wait for a place, a group's first among them; `late`,
   * synchronous ones that wait since the turn of the event loop in which they were due has been long enough.
   */
  readonly executions: { readonly running: number; readonly waiting: number; readonly late: number };
}

/** @param limit of the groups that are listed, and of the channels; all of them are counted */
export function inspect(
  groups: readonly Group[],
  channels: ReadonlyMap<string, { readonly groups: ReadonlySet<Group> }>,
  { running, waiting }: FairLimiter,
  { waiting: late }: FairLimiter,
  limit: number,
): HubInspection {
  return {
    groups: {
      count: groups.length,
      subscribers: subscribersOf(groups),
      waiting: groups.reduce((sum, { counts }) => sum + counts.waiting, 0),
      largest: largest(groups, limit, ({ size }) => size).map(inspectGroup),
    },
    channels: {
      count: channels.size,
      largest: largest(channels, limit, ([, channel]) => channel.groups.size).map(([name, channel]) => ({
        name,
        groups: channel.groups.size,
        subscribers: subscribersOf([...channel.groups]),
      })),
    },
    executions: { running, waiting, late },
  };
}

function inspectGroup({ plan, size, counts }: Group): GroupInspection {
  const { operation, variables, channels, field } = plan;
  const { query: document, name: operationName } = operation;
  return { field, document, operationName, variables, channels, subscribers: size, ...counts };
}

function subscribersOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { size }) => sum + size, 0);
}
