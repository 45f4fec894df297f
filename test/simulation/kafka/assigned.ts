import type { LogBefore } from '../../../src/ingest/kafka/position-text.ts';
import type { TopicPartition } from './group.ts';

/** A member's state of one partition. */
export interface Assigned extends TopicPartition {
  /** Returns the text that goes with each commit. */
  readonly metadata: (log: LogBefore) => string;
  /** The number of the topic's partitions at the join. */
  readonly partitions: number;
  /** How often the member's position was reset. */
  resets: number;
  position: number;
  /** The epoch of the record before the position. Undefined: there is no such record, or its epoch is not known. */
  leaderEpoch: number | undefined;
  /** The leader epoch that the member's client knows. */
  knownEpoch: number | undefined;
  highWatermark: number | undefined;
  paused: boolean;
}
