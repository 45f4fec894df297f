import type { MemberOptions } from '../../../src/ingest/kafka/driver.ts';
import type { StartPositions, TopicAtJoin } from '../../../src/ingest/kafka/start-positions.ts';
import type { Assigned } from './assigned.ts';
import type { SimulatedTopic, StoredRecord } from './cluster.ts';
import type { SimulatedGroup, TopicPartition } from './group.ts';
import { epochBefore } from './lost-log.ts';

/** The policy of src/ingest/kafka. */
export type Starts = Pick<StartPositions, 'decide'>;

interface TopicSeen {
  readonly at: TopicAtJoin & { readonly topicId: string };
  readonly logs: readonly (readonly StoredRecord[])[];
}

/** The place in a partition at which a member starts. */
interface Place {
  readonly at: Assigned;
  /** Whether exactly this place is committed. */
  readonly isSettled: boolean;
}

/** The broker's answer: the group's positions on a topic, and the log of each of its partitions. */
export function lookAt(
  { name: topic, id: topicId, partitions }: SimulatedTopic,
  group: SimulatedGroup,
): TopicSeen {
  const positions = partitions.map((_, partition) => {
    const { offset, metadata = null } = group.committed({ topic, partition }) ?? {};
    return { partition, offset, metadata };
  });
  return { at: { topic, topicId, positions }, logs: partitions.map((log) => [...log]) };
}

/** @param partitions all partitions of the member, also of other topics */
export function placesIn(
  { at: seen, logs }: TopicSeen,
  partitions: readonly TopicPartition[],
  starts: Starts,
  { bus, matched }: Partial<Pick<MemberOptions, 'bus' | 'matched'>>,
): Place[] {
  const { topic, topicId, positions } = seen;
  const {
    start,
    log: before,
    metadata,
    isUnnamed,
  } = starts.decide({ ...seen, matched: matched?.(topic), bus });
  return partitions.flatMap(({ topic: name, partition }): Place | [] => {
    const log = logs[partition];
    // A topic that was made anew may have fewer partitions.
    if (name !== topic || log === undefined) return [];
    const from = start(partition);
    const committed = from === 'position' ? positions[partition] : undefined;
    const position = committed?.offset ?? (from === 'end' ? log.length : 0);
    const { resets, leaderEpoch: known } = before(partition);
    const leaderEpoch = committed ? known : epochBefore(log, position);
    const at = {
      topic,
      topicId,
      partition,
      partitions: logs.length,
      metadata,
      resets,
      position,
      leaderEpoch,
      knownEpoch: committed && known,
      highWatermark: undefined,
      paused: false,
    };
    return { at, isSettled: from === 'position' && !isUnnamed(partition) };
  });
}
