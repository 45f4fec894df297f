/** What work costs and how much a turn may take, in units of one delivery put into a send queue (0.1 µs and more). */
export const UNITS = {
  message: 64,
  execution: 128,
  /** An event that is passed to one group, beside its filter and its execution. */
  group: 32,
  /** A filter, and for each comparison of it. With thousands of groups it is not in the processor's caches. */
  filter: 8,
  comparison: 2,
  /** For an execution that takes long. */
  millisecond: 6_554,
  /**
   * For each byte of a message, again where a filter looks for something in it, and for each of a result: to parse one, and
   * to write the other.
   */
  byte: 1 / 32,
  /** After this much the rest waits for the next turn: some 10 ms. */
  turn: 65_536,
  /** However few messages that was: some 50 ms. */
  longestTurn: 524_288,
};

/** When an event happened, ms since 1970: as a message of the bus has it. */
export interface EventTimes {
  /** Consumed by a pod. */
  readonly in: number;
  /** Written to Kafka; negative if Kafka does not know. */
  readonly ts: number;
  /** If its trace is sampled. */
  readonly traceparent?: string;
}

/** The work that one turn of the event loop has done. Transports keep it, since they know when writes are over. */
export interface WorkBudget {
  /** In the units of `UNITS`. */
  readonly spent: number;
  /** Sockets are still being written to for an earlier turn. */
  readonly writing: boolean;
  spend(units: number): void;
  /** A new turn begins. */
  renew(): void;
  /** Notes that results of this event leave with this turn's writes. */
  timed(event: EventTimes): void;
  /** Ends the span when this turn's writes are over. */
  traced(span: { end(): void }): void;
}
