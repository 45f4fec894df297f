/** What a process with one member of a consumer group is to do, as its only argument. */
export interface MemberAssignment {
  /** Settings of the gateway, as its environment has them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly topic: string;
  readonly groupId: string;
  /** Events after which it tells what they have cost; undefined: it tells of each event. */
  readonly events: number | undefined;
}

/** To the load test. */
export type MemberMessage =
  { readonly type: 'joined'; readonly partitions: readonly number[] } | ConsumedEvents | Costs;

/** Events of one partition, in the order of its log. */
export interface ConsumedEvents {
  readonly type: 'consumed';
  readonly partition: number;
  readonly offsets: readonly number[];
}

/** From the first event to the last. */
export interface Costs {
  readonly type: 'costs';
  readonly cpuSeconds: number;
  /** The most that the process has had. */
  readonly residentBytes: number;
}
