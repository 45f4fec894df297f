import type { LogPosition } from './log-position.ts';

/** The record in Kafka that an event comes from. */
export interface EventSource extends LogPosition {
  /** Kafka's id of the topic; undefined: not known. */
  readonly topicId: string | undefined;
  /** Its name in the stream that it is published to. */
  readonly partition: number | string;
}

/** One message for one channel. The publications of one event follow each other. */
export interface Publication {
  readonly channel: string;
  readonly payload: string;
  /** Absent if the event does not come from Kafka. */
  readonly source?: EventSource;
  /**
   * Makes this a deletion, not a message: the hash of the Kafka key under which all messages in the topic's history are
   * deleted. The deletion goes to no channel, and takes effect in its order.
   */
  readonly deletes?: string;
}

/** The publishing side of a bus. */
export interface Publisher {
  /**
   * Which of these channels may have subscribers, on any pod. A message published now on one that is left out would
   * reach no subscriber. A bus that can't tell returns all of them.
   *
   * @param topic the stream that the channels belong to
   * @param channels each once
   * @throws if publishing would fail too
   */
  subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Publishes in the order given, all in one go, and resolves when the bus has acknowledged each.
   *
   * @param topic the stream that all channels of the batch belong to
   * @throws PublishError that lists the publications that were not acknowledged
   */
  publish(topic: string, batch: readonly Publication[]): Promise<void>;
}

export class PublishError extends Error {
  /** The publications that were not acknowledged, in their order: some may have arrived. All others have arrived. */
  readonly failed: readonly Publication[];

  constructor(failed: readonly Publication[], total: number, cause: unknown) {
    super(`the bus acknowledged ${total - failed.length} of ${total} publications`, { cause });
    this.name = 'PublishError';
    this.failed = failed;
  }
}
