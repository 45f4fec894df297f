/** The costs of work and the limits of a turn, in units of one delivery put into a send queue (0.1 µs and more). */
export const UNITS = {
  message: 64,
  execution: 128,
  /** An event that is passed to one group, beside its filter and its execution. */
  group: 32,
  /** A filter, and each of its comparisons. With thousands of groups it is not in the processor's caches. */
  filter: 8,
  comparison: 2,
  /** For an execution that takes long. */
  millisecond: 6_554,
  /** Each byte of a message, to parse it, and again if a filter searches it; each byte of a result, to write it. */
  byte: 1 / 32,
  /** After so many units the rest waits for the next turn: some 10 ms. */
  turn: 65_536,
  /** The limit of a turn, however few messages it has taken: some 50 ms. */
  longestTurn: 524_288,
};

/** Times of an event, in ms since 1970, as in a message of the bus. */
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
