/** How far one partition has been consumed, as the consuming pod reports. */
export interface ConsumedPartition {
  readonly partition: number;
  /** When the pod was assigned the partition, in ms of its own clock. Distinguishes this assignment from others. */
  readonly assignedAt: number;
  /** The offset at which the pod then began, or a somewhat later one. */
  readonly start: number;
  /** Names the log that the offsets belong to: offsets of another log can't be compared with them. */
  readonly log: string;
  /** All records before this offset have been published, or passed over. */
  readonly next: number;
  /** Leader epoch of the record before `next`; undefined: not known. */
  readonly leaderEpoch: number | undefined;
  /** Some records from `next` up to this offset may have been published already. */
  readonly until: number;
  /** Leader epoch of the last record before `until`. */
  readonly lastEpoch: number | undefined;
  /** Offset of the first record of `lastEpoch` that the pod has been handed; undefined: not known. */
  readonly lastFrom: number | undefined;
}

export interface ConsumedTopic {
  readonly topic: string;
  /** How many partitions the topic has. */
  readonly count: number;
  /** The partitions that this process consumes. */
  readonly partitions: readonly ConsumedPartition[];
}

/** Records of one partition that are read again. */
export interface LogRange extends Pick<
  ConsumedPartition,
  'partition' | 'log' | 'leaderEpoch' | 'until' | 'lastEpoch' | 'lastFrom'
> {
  /** The first offset. `leaderEpoch` is the epoch of the record before it. */
  readonly from: number;
}

/** Receives messages that are read again. */
export interface Reader {
  /** Whether messages of this channel are wanted. */
  readonly wants: (channel: string) => boolean;
  /** Called with each message, in the order of its partition. */
  readonly passOn: (channel: string, payload: string) => void;
  /** Resolves once the next message may be passed on. */
  readonly ready: () => Promise<void>;
}

/** The events that publishers consume, which can be read again if a bus has not delivered them. */
export interface Consumption {
  /** One entry for each topic of which this process has partitions for certain. @param topic undefined: all */
  topics(topic?: string): readonly ConsumedTopic[];
  /** The topics of a stream that this process knows of. */
  topicsOf(stream: string): readonly string[];
  /** Whether the topic is one of the stream, also if this process does not know of it yet. */
  isOf(stream: string, topic: string): boolean;
  /**
   * Reads published events of a topic again, as they were published.
   *
   * @throws if the log has another name, lacks records by now, or has a record of another leader epoch, which may have
   *   replaced a published record; if it is unknown whether a record was published; if the signal aborts
   */
  read(topic: string, ranges: readonly LogRange[], reader: Reader, signal: AbortSignal): Promise<void>;
}
