/** Where a record is in the log of its partition. */
export interface LogPosition {
  readonly offset: number;
  /** Tells apart records of one offset: see logEpoch. Undefined: not known, as where a pod of the version before has published it. */
  readonly epoch?: number | undefined;
}

/** Above all leader epochs, which have 32 bits. A power of ten, so that both can be read in messages and fields. */
export const PER_RESET = 1e10;

/**
 * Epoch of a record in its log. The epoch of the leader that appended the record's batch stands in the batch: all who read the
 * record read the same. A log that has lost its end gives its offsets once more, in a higher leader epoch; one that was restored
 * with its epochs gives both once more, so that what counts before is how often the group has moved its position to where the
 * log goes on, as committed with the position: see PositionText.
 */
export function logEpoch(leaderEpoch: number | undefined, resets: number): number | undefined {
  return resets === 0 ? leaderEpoch : resets * PER_RESET + (leaderEpoch ?? 0);
}

export function leaderEpochOf({ epoch }: LogPosition): number | undefined {
  return epoch === undefined ? undefined : epoch % PER_RESET;
}

/**
 * Whether a record comes behind another in the log. Leader epochs go up along a log; where one is not known, offsets alone
 * decide. A record of a pod that has read of no reset, as none has been committed or another version has committed since, is
 * compared by leader epoch and offset: nothing that comes must count as a copy for ever.
 */
export function isAfter(one: LogPosition, other: LogPosition): boolean {
  const [resets, otherResets] = [resetsOf(one), resetsOf(other)];
  if (resets > 0 && resets !== otherResets) return resets > otherResets;
  const [epoch, otherEpoch] = [leaderEpochOf(one), leaderEpochOf(other)];
  if (epoch === undefined || otherEpoch === undefined || epoch === otherEpoch)
    return one.offset > other.offset;
  return epoch > otherEpoch;
}

function resetsOf({ epoch = 0 }: LogPosition): number {
  return Math.floor(epoch / PER_RESET);
}
