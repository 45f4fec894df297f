import type { EachBatchPayload, KafkaMessage } from '#kafkajs';
import { logEpoch } from '../../../events/log-position.ts';
import type { KafkaRecord } from '../../record.ts';
import type { BadBatch, RecordBatch } from '../driver.ts';

/** A batch of kafkajs for one partition, in the form of the driver. */
export class KafkajsBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  readonly bad: BadBatch | undefined;
  readonly highWatermark: number;
  readonly #payload: EachBatchPayload;
  readonly #isMember: () => boolean;

  /**
   * @param log the topic's id when the member joined, and how often the position was reset: see PositionText
   * @param isMember whether the member is of the same generation as when it fetched this
   */
  constructor(
    payload: EachBatchPayload,
    log: { readonly topicId: string | undefined; readonly resets: number },
    isMember: () => boolean,
  ) {
    const { topic, partition, messages, highWatermark } = payload.batch;
    this.topic = topic;
    this.partition = partition;
    this.records = messages.map((message) => recordOf({ topic, partition, ...log }, message));
    this.bad = messages.length === 0 ? badBatchOf(payload) : undefined;
    this.highWatermark = Number(highWatermark);
    this.#payload = payload;
    this.#isMember = isMember;
  }

  heartbeat(): Promise<void> {
    return this.#payload.heartbeat();
  }

  commit(nextOffset: number): Promise<void> {
    // kafkajs wants the last offset that was processed.
    this.#payload.resolveOffset(String(nextOffset - 1));
    return this.#payload.commitOffsetsIfNecessary(this.#payload.uncommittedOffsets());
  }

  pause(): () => void {
    return this.#payload.pause();
  }

  isAssigned(): boolean {
    return this.#isMember() && !this.#payload.isStale();
  }

  isRunning(): boolean {
    return this.#payload.isRunning();
  }
}

function badBatchOf({ batch: { badBatch } }: EachBatchPayload): BadBatch | undefined {
  if (badBatch === null) return undefined;
  const { firstOffset, lastOffset, error } = badBatch;
  return { firstOffset: Number(firstOffset), lastOffset: Number(lastOffset), error };
}

function recordOf(
  {
    topic,
    topicId,
    partition,
    resets,
  }: Pick<KafkaRecord, 'topic' | 'topicId' | 'partition'> & { readonly resets: number },
  message: KafkaMessage,
): KafkaRecord {
  return {
    topic,
    topicId,
    partition,
    offset: Number(message.offset),
    epoch: logEpoch(leaderEpochOf(message), resets),
    timestamp: Number(message.timestamp),
    key: message.key,
    value: message.value,
    headers: message.headers,
  };
}

/** kafkajs hands the epoch over, though its types don't say so. Messages of formats before record batches have none. */
function leaderEpochOf(message: KafkaMessage): number | undefined {
  const { batchContext } = message as { readonly batchContext?: { readonly partitionLeaderEpoch: number } };
  const epoch = batchContext?.partitionLeaderEpoch ?? -1;
  return epoch < 0 ? undefined : epoch;
}
