/** A gap in which a subscription may have missed events. The page should fetch its data again. */
export interface Gap<P = unknown> {
  /** The payload of the subscription: the object that was passed in. */
  readonly payload: P;
  /**
   * - `reconnect`: the connection was lost, and the server could not give all events since then.
   * - `gap`: the connection is open, and the server says that it may have missed events, or has skipped some.
   */
  readonly reason: 'reconnect' | 'gap';
  /** The topic in Kafka; with `gap` only, and not for events that were skipped. */
  readonly topic?: string;
  /** The time of the gap, in milliseconds since 1970 by the server's clock; with `topic` only. */
  readonly at?: number;
}
