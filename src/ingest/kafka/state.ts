/** What a look at a source of events shows. */
export interface KafkaSourceState {
  /** Whether a broker has answered within a session. */
  readonly connected: boolean;
  /** What the last consumer to crash has crashed of, or why there is none yet. */
  readonly lastError: string | undefined;
  /** Those of this process. */
  readonly partitions: readonly PartitionState[];
}

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** Of the next record to be consumed; all before it are acknowledged and committed. */
  readonly position: number;
  /** The offset after the last record; undefined until a fetch has told. */
  readonly highWatermark: number | undefined;
  /** Records that are yet to be consumed. */
  readonly lag: number | undefined;
  /**
   * How old the record at the position is, or the one before it if that one has not been handed over yet; 0 without a lag,
   * undefined if no record of the partition has been seen.
   */
  readonly lagSeconds: number | undefined;
  /**
   * `stopped`: the next record batch can't be decoded. `held`: a batch of it waits for the bus, the dead-letter topic, or pressure to end,
   * and the partitions beside it wait too.
   */
  readonly state: 'consuming' | 'held' | 'stopped';
  /** Why it is held or stopped. */
  readonly reason: string | undefined;
}
