import type { BadBatch, EachBatchPayload, KafkaMessage } from 'kafkajs';

/** The part of kafkajs's batch payload that is used: consecutive messages of one partition. */
export type KafkaBatch = Pick<
  EachBatchPayload,
  | 'resolveOffset'
  | 'heartbeat'
  | 'commitOffsetsIfNecessary'
  | 'uncommittedOffsets'
  | 'isRunning'
  | 'isStale'
  | 'pause'
> & {
  readonly batch: {
    readonly topic: string;
    readonly partition: number;
    readonly messages: readonly KafkaMessage[];
    /** Behind the messages; handed over without any once they are consumed. */
    readonly badBatch: BadBatch | null;
    /** The offset after the last one that consumers may see. */
    readonly highWatermark: string;
  };
};
