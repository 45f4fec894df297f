/** What a check of a driver asks of the Kafka that the driver consumes. */
export interface BrokerHandle {
  createTopic(topic: string, partitions: number): Promise<void>;
  deleteTopic(topic: string): Promise<void>;
  addPartitions(topic: string, total: number): Promise<void>;
  /** Resolves when all are acknowledged. @param headers of each; need `headers` */
  produce(
    topic: string,
    partition: number,
    values: readonly string[],
    headers?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** The position of each partition, in order; undefined: none. */
  committed(groupId: string, topic: string): Promise<(number | undefined)[]>;
  /** Sets a position of a group without members. */
  setCommitted(groupId: string, topic: string, partition: number, offset: number): Promise<void>;
  /** Deletes records as retention does: the partition begins at this offset afterwards. */
  deleteRecords(topic: string, partition: number, before: number): Promise<void>;
  /** Begins a transaction of a producer of its own. Needs `transactions`. */
  transaction(): Promise<TransactionHandle>;
  /** Needs `codecs`. */
  produceWith(codec: Codec, topic: string, values: readonly string[]): Promise<void>;
}

export interface TransactionHandle {
  /** With keys like those of the records by which brokers end transactions. */
  produce(topic: string, partition: number, values: readonly string[]): Promise<void>;
  commit(): Promise<void>;
  abort(): Promise<void>;
}

export type Codec = 'gzip' | 'snappy' | 'lz4' | 'zstd';
