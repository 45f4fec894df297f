import type { LogPosition } from './log-position.ts';

/** Where an event comes from in Kafka. */
export interface EventSource extends LogPosition {
  /** Kafka's id of the topic, where it is known. */
  readonly topicId: string | undefined;
  readonly partition: number;
}

/** One message for one channel. Those of one event follow each other. */
export interface Publication {
  readonly channel: string;
  readonly payload: string;
  /** Absent if the event comes from elsewhere. */
  readonly source?: EventSource;
  /**
   * In place of a message: hash of a Kafka key under which all that the topic's history holds is deleted. It goes to no
   * channel, and takes effect in its order.
   */
  readonly deletes?: string;
}

/** The publishing side of a bus. */
export interface Publisher {
  /**
   * Which of these channels may have subscribers, on any pod. A message published now on one that is left out would reach
   * no subscriber. A bus that can't tell returns all of them.
   *
   * @param topic that the channels belong to
   * @param channels each once
   * @throws if publishing would fail too
   */
  subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Publishes in the order given, all in one go, and resolves when the bus has acknowledged each.
   *
   * @param topic that all channels of the batch belong to
   * @throws PublishError that says which of them were not acknowledged
   */
  publish(topic: string, batch: readonly Publication[]): Promise<void>;
}

export class PublishError extends Error {
  /** Publications that were not acknowledged, in their order: some may have arrived all the same. The others have arrived. */
  readonly failed: readonly Publication[];

  constructor(failed: readonly Publication[], total: number, cause: unknown) {
    super(`the bus acknowledged ${total - failed.length} of ${total} publications`, { cause });
    this.name = 'PublishError';
    this.failed = failed;
  }
}
