import type { Address } from '../access.ts';
import { valueOf, type Command, type Reply } from '../connection.ts';

/** A cluster as one of its nodes sees it. */
export interface ClusterView {
  /** Higher after each failover, and after the first of several slots that have moved to one node. */
  readonly epoch: number;
  readonly ranges: readonly SlotRange[];
}

interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: Address;
}

/** Asks a node for its view. */
export const VIEW: readonly Command[] = [
  ['CLUSTER', 'INFO'],
  ['CLUSTER', 'SLOTS'],
];

type SlotsReply = readonly (readonly [
  first: number,
  last: number,
  master: readonly [string | null, number],
])[];

/**
 * @param replies to `VIEW`
 * @param asked the node that replied, which leaves out its own host if it does not know it
 * @throws if the node has no view, or considers the cluster down
 */
export function viewOf(replies: readonly Reply[], asked: Address): ClusterView {
  const info = String(valueOf(replies[0]));
  if (!/^cluster_state:ok\r?$/m.test(info)) throw new Error('the cluster is down, as a node of it finds');
  const ranges = (valueOf(replies[1]) as SlotsReply).map(([first, last, [host, port]]) => ({
    first,
    last,
    master: { host: host === null || host === '' || host === '?' ? asked.host : host, port },
  }));
  return { epoch: Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0), ranges };
}

/** @returns the master of the slot; undefined if no node serves it */
export function masterOf({ ranges }: ClusterView, slot: number): Address | undefined {
  return ranges.find(({ first, last }) => first <= slot && slot <= last)?.master;
}

/**
 * The latest of several views: nodes learn of changes one by one. With equal epochs, it may be the view of a node that has
 * not learned yet that a slot has moved. The slot's former node then replies so, and all are asked again, until they agree.
 */
export function latest(views: readonly ClusterView[]): ClusterView | undefined {
  return views.toSorted((one, other) => other.epoch - one.epoch)[0];
}
