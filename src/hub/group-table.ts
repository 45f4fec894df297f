import { shortened } from '../support/shortened.ts';
import { Table } from '../support/table.ts';
import type { ExecutionCosts } from './execution-costs.ts';

/** The counts of a group since it was made, except where it says otherwise. */
export interface GroupCounts {
  /** Its channels have been joined. */
  readonly live: boolean;
  /** Events of its channels, without copies, and without those that the filter index has kept from it. */
  readonly events: number;
  /** Events that are pending now: being executed, or behind one that is. */
  readonly waiting: number;
  readonly costs: Pick<ExecutionCosts, 'executions' | 'ms' | 'awaitedMs' | 'buckets' | 'unshared' | 'splits'>;
}

/** A group, as far as it is inspected. */
export interface InspectedGroup {
  readonly size: number;
  readonly counts: GroupCounts;
  readonly plan: {
    readonly field: string;
    readonly topic: string;
    readonly operation: { readonly query: string; readonly name: string | undefined };
    readonly variables: Readonly<Record<string, unknown>>;
    readonly key: string;
    readonly channels: readonly string[];
    readonly shares: boolean;
  };
}

/** Most characters of a document, or of variables, that are shown; only these are searched. */
const MAX_TEXT = 500;

const MAX_NAME = 100;

/** The most channels of one group, and paths that split it, that are listed. */
const MAX_LISTED = 5;

/** The groups of a hub as a table, however many there are. */
export function groupTable(
  byOperation: ReadonlyMap<unknown, ReadonlyMap<string, InspectedGroup>>,
): Table<InspectedGroup> {
  const ids = new GroupIds();
  return new Table<InspectedGroup>({
    size: () => {
      let size = 0;
      for (const groups of byOperation.values()) size += groups.size;
      return size;
    },
    items: () => groupsOf(byOperation),
    columns: {
      subscribers: ({ size }) => size,
      events: ({ counts }) => counts.events,
      executions: ({ counts }) => counts.costs.executions,
      executionsPerEvent: ({ counts }) => executionsPerEvent(counts),
      unshared: ({ counts }) => counts.costs.unshared,
      buckets: ({ counts }) => counts.costs.buckets,
      ms: ({ counts }) => counts.costs.ms,
      awaitedMs: ({ counts }) => counts.costs.awaitedMs,
      waiting: ({ counts }) => counts.waiting,
      field: ({ plan }) => plan.field,
      operationName: ({ plan }) => plan.operation.name,
      topic: ({ plan }) => plan.topic,
    },
    text: ({ plan: { field, operation, key, topic } }) =>
      [field, operation.name ?? '', topic, key, operation.query]
        .map((text) => text.slice(0, MAX_TEXT))
        .join('\n'),
    row: (group) => rowOf(group, ids.of(group)),
  });
}

function* groupsOf(
  byOperation: ReadonlyMap<unknown, ReadonlyMap<string, InspectedGroup>>,
): Iterable<InspectedGroup> {
  for (const groups of byOperation.values()) yield* groups.values();
}

function rowOf({ plan, size, counts }: InspectedGroup, id: string): object {
  const { operation, channels, field, topic, shares } = plan;
  const { live, events, waiting, costs } = counts;
  const { executions, ms, awaitedMs, unshared, buckets, splits } = costs;
  return {
    id,
    field,
    topic,
    operationName: operation.name === undefined ? null : shortened(operation.name, MAX_NAME),
    document: shortened(operation.query, MAX_TEXT),
    // The text that tells groups apart: JSON of the variables could be any size.
    variables: shortened(plan.key.slice(0, -1), MAX_TEXT),
    channels: {
      count: channels.length,
      first: channels.slice(0, MAX_LISTED).map((name) => shortened(name, MAX_NAME)),
    },
    subscribers: size,
    live,
    events,
    waiting,
    executions,
    executionsPerEvent: executionsPerEvent(counts) ?? null,
    ms,
    awaitedMs,
    sharing: shares ? 'READS' : 'NEVER',
    unshared,
    buckets,
    splits: splits.slice(0, MAX_LISTED).map(({ path, executions: some }) => ({
      path: shortened(path, MAX_NAME),
      executions: some,
    })),
  };
}

function executionsPerEvent({ events, costs }: GroupCounts): number | undefined {
  return events === 0 ? undefined : costs.executions / events;
}

/** The ids of groups: a group gets one when it is listed for the first time. */
class GroupIds {
  readonly #ids = new WeakMap<InspectedGroup, string>();
  #last = 0;

  of(group: InspectedGroup): string {
    const known = this.#ids.get(group);
    if (known !== undefined) return known;
    const id = (this.#last += 1).toString(36);
    this.#ids.set(group, id);
    return id;
  }
}
