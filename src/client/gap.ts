/** Where a subscription may have missed events. The state that the page shows is to be fetched again. */
export interface Gap<P = unknown> {
  /** What was subscribed with: the object that was passed in. */
  readonly payload: P;
  /**
   * - `reconnect`: the connection was lost, and not all that happened since could be had from the server.
   * - `gap`: the connection is there, and the server says that it may have missed events, or has skipped some.
   */
  readonly reason: 'reconnect' | 'gap';
  /** The topic of Kafka; with `gap` only, and not of events that were skipped. */
  readonly topic?: string;
  /** When, in milliseconds since 1970 by the server's clock; with `topic` only. */
  readonly at?: number;
}
