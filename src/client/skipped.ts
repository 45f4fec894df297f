/** Events that were left out by choice of the graph: the subscription has `@delivery`. */
export interface Skipped<P = unknown> {
  /** The payload of the subscription: the object that was passed in. */
  readonly payload: P;
  /** The number of events left out since the last event that has arrived. */
  readonly skipped: number;
}
