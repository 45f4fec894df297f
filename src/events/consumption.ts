/** Where the consumption of one partition stands, as the pod says that consumes it. */
export interface ConsumedPartition {
  readonly partition: number;
  /** When the pod was given the partition, by its own clock: ms. Tells its hold of it from others, before and after. */
  readonly assignedAt: number;
  /** Where it began then, or somewhat later. */
  readonly start: number;
  /** Names the log that the offsets belong to: offsets of another one say nothing. */
  readonly log: string;
  /** All records before this offset have been published, or passed over. */
  readonly next: number;
  /** Leader epoch of the record before `next`; undefined: not known. */
  readonly leaderEpoch: number | undefined;
  /** Some records from `next` up to this offset may have been published already. */
  readonly until: number;
  /** Leader epoch of the last record before `until`. */
  readonly lastEpoch: number | undefined;
  /** Offset of the first record of that epoch, of those that the pod has been handed; undefined: not known. */
  readonly lastFrom: number | undefined;
}

export interface ConsumedTopic {
  readonly topic: string;
  /** How many partitions it has. */
  readonly count: number;
  /** The partitions that this process consumes. */
  readonly partitions: readonly ConsumedPartition[];
}

/** Records of one partition that are read again. */
export interface LogRange extends Pick<
  ConsumedPartition,
  'partition' | 'log' | 'leaderEpoch' | 'until' | 'lastEpoch' | 'lastFrom'
> {
  /** The first offset; `leaderEpoch` is that of the record before. */
  readonly from: number;
}

/** Where messages go that are read again. */
export interface Reader {
  /** Whether messages of this channel are wanted. */
  readonly wants: (channel: string) => boolean;
  /** Called with each, in the order of its partition. */
  readonly passOn: (channel: string, payload: string) => void;
  /** Resolves once more may be passed on. */
  readonly ready: () => Promise<void>;
}

/** What publishers consume: it can be read again where a bus has not brought it. */
export interface Consumption {
  /** One entry for each topic of which this process has partitions for certain. @param topic undefined: all */
  topics(topic?: string): readonly ConsumedTopic[];
  /**
   * Reads what was published of a topic once more, as it was published.
   *
   * @throws if the log has another name, does not hold all of it any more, or has a record of another leader epoch, which may have
   *   come in place of what was published; if an event can't be made of a record as it could before; if the signal aborts
   */
  read(topic: string, ranges: readonly LogRange[], reader: Reader, signal: AbortSignal): Promise<void>;
}
