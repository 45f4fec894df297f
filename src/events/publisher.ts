/** One message for one channel. */
export interface Publication {
  readonly channel: string;
  readonly payload: string;
}

/** The publishing side of a bus. */
export interface Publisher {
  /**
   * Which of these channels may have subscribers, on any pod. A message published now on one that is left out would reach
   * no subscriber. A bus that can't tell returns all of them.
   *
   * @param channels each once
   * @throws if publishing would fail too
   */
  subscribed(channels: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Publishes in the order given, all in one go, and resolves when the bus has acknowledged each.
   *
   * @throws PublishError that says how many of the first ones were acknowledged
   */
  publish(batch: readonly Publication[]): Promise<void>;
}

export class PublishError extends Error {
  /** This many of the batch's first publications are known to have arrived; of the rest nothing is known. */
  readonly acknowledged: number;

  constructor(acknowledged: number, total: number, cause: unknown) {
    super(`the bus acknowledged ${acknowledged} of ${total} publications`, { cause });
    this.name = 'PublishError';
    this.acknowledged = acknowledged;
  }
}
