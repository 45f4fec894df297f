interface Situation {
  /** Of the group, for this partition of this topic: not for a topic that had the same name before. */
  readonly committed: number | undefined;
  /** Whether the group has, or had, positions on a topic of this name. */
  readonly knowsTopic: boolean;
  /** The offset of the next record to come. */
  readonly end: number;
}

export type StartOf = (situation: Situation) => number;

/** Where a group begins with a partition: as `src/ingest/kafka` says that drivers do. */
export function startOf({ committed, knowsTopic, end }: Situation): number {
  // A group's first partitions begin at their end; one that is added later, or belongs to a topic made anew, does not.
  if (committed === undefined) return knowsTopic ? 0 : end;
  return Math.min(committed, end);
}
