import type { KafkaRecord } from '../record.ts';
import type { ReplayMessage } from './letter.ts';

/** All that a Kafka client must do to read and replay dead letters. */
export interface DeadLetterKafka {
  /** The topics that do not exist, or that this user may not describe. Creates none. */
  missingTopics(wanted: readonly string[]): Promise<readonly string[]>;

  /**
   * Opens a topic that exists. Commits no positions.
   *
   * @param from by partition, the offset to begin at; the beginning for those that are not named
   */
  open(topic: string, from: ReadonlyMap<number, number>): Promise<TopicReader>;

  /** Connects with the first message. */
  replaySink(): ReplaySink;
}

/** A topic as it was when it was opened: what is written to it afterwards is not read. */
export interface TopicReader {
  readonly partitions: readonly PartitionReader[];

  /** Never rejects. */
  close(): Promise<void>;
}

export interface PartitionReader {
  readonly partition: number;

  /**
   * The next records, one or more, in order; undefined at the end. Called again only after it has resolved.
   *
   * @throws Error if Kafka can't be reached any more, or nothing comes for a minute
   */
  next(): Promise<readonly KafkaRecord[] | undefined>;
}

export interface ReplaySink {
  /**
   * Sends to the topics and partitions that the messages name; if a topic has no such partition any more, to that of the
   * key. Messages of one partition keep their order. Resolves once all in-sync replicas have acknowledged all of them.
   *
   * @throws Error if one of them could not be sent; others may have been written by then
   */
  send(messages: readonly ReplayMessage[]): Promise<void>;

  /** Never rejects. */
  stop(): Promise<void>;
}
