import type { LogBefore } from '../../../src/ingest/kafka/position-text.ts';
import type { TopicPartition } from './group.ts';

/** What a member has of one partition. */
export interface Assigned extends TopicPartition {
  /** To go with each commit. */
  readonly metadata: (log: LogBefore) => string;
  /** How many its topic had at the join. */
  readonly partitions: number;
  /** How often its position was reset. */
  resets: number;
  position: number;
  /** The epoch of the record before the position. Undefined: there is none, or it is not known. */
  leaderEpoch: number | undefined;
  /** What its client knows of that. */
  knownEpoch: number | undefined;
  highWatermark: number | undefined;
  paused: boolean;
}
