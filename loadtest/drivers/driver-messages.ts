/** The work of a process with one member of a consumer group; it is the only argument of the process. */
export interface MemberAssignment {
  /** Settings of the gateway, as its environment has them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly topic: string;
  readonly groupId: string;
  /** The member tells its costs after this number of events; undefined: it tells of each event. */
  readonly events: number | undefined;
}

/** From a member's process to the load test. */
export type MemberMessage =
  { readonly type: 'joined'; readonly partitions: readonly number[] } | ConsumedEvents | Costs;

/** Events of one partition, in the order of its log. */
export interface ConsumedEvents {
  readonly type: 'consumed';
  readonly partition: number;
  readonly offsets: readonly number[];
}

/** The costs from the first event to the last. */
export interface Costs {
  readonly type: 'costs';
  readonly cpuSeconds: number;
  /** The peak of the process's resident memory. */
  readonly residentBytes: number;
}
