/** Where a record is in the log of its partition. */
export interface LogPosition {
  readonly offset: number;
  /**
   * The epoch of the leader that appended the record's batch stands in the batch: all who read the record read the same.
   * Undefined: not known, as where a pod of the version before has published it.
   */
  readonly leaderEpoch?: number | undefined;
}

/**
 * Whether a record comes behind another in the log. Leader epochs go up along a log. One that has lost its end gives its
 * offsets once more, in a higher epoch; where an epoch is not known, offsets alone decide.
 */
export function isAfter(one: LogPosition, other: LogPosition): boolean {
  const [epoch, otherEpoch] = [one.leaderEpoch, other.leaderEpoch];
  if (epoch === undefined || otherEpoch === undefined || epoch === otherEpoch)
    return one.offset > other.offset;
  return epoch > otherEpoch;
}
