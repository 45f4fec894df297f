/** Where a record is in the log of its partition. */
export interface LogPosition {
  readonly offset: number;
  /** Distinguishes records of one offset: see logEpoch. Undefined: not known, as from a pod of the previous version. */
  readonly epoch?: number | undefined;
}

/** Above all leader epochs, which have 32 bits. A power of ten keeps both numbers readable in messages and fields. */
export const PER_RESET = 1e10;

/**
 * Returns the epoch of a record in its log. A batch holds the epoch of the leader that appended it, so all readers of a
 * record read the same epoch. A log that has lost its end assigns offsets again, in a higher leader epoch. A log that
 * was restored with its epochs assigns both again: so the number of times that the group has reset its position, which
 * is committed with the position, counts first: see PositionText.
 */
export function logEpoch(leaderEpoch: number | undefined, resets: number): number | undefined {
  return resets === 0 ? leaderEpoch : resets * PER_RESET + (leaderEpoch ?? 0);
}

export function leaderEpochOf({ epoch }: LogPosition): number | undefined {
  return epoch === undefined ? undefined : epoch % PER_RESET;
}

/**
 * Whether a record comes behind another in the log. Leader epochs go up along a log; if one is not known, only offsets
 * are compared. A record of a pod that has read of no reset, as none was committed or another version has committed
 * since, is compared by leader epoch and offset: otherwise new records could count as copies for ever.
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
