/** Events that were left out by choice of the graph: the subscription has `@delivery`. */
export interface Skipped<P = unknown> {
  /** What was subscribed with: the object that was passed in. */
  readonly payload: P;
  /** How many, since the last event that has arrived. */
  readonly skipped: number;
}
