import type { PartitionPosition } from './driver.ts';

/** The state of a source of events. */
export interface KafkaSourceState {
  /** Whether a broker has answered within a session. */
  readonly connected: boolean;
  /** The error of the last consumer that crashed, or why there is no consumer yet. */
  readonly lastError: string | undefined;
  /** The partitions of this process. */
  readonly partitions: readonly PartitionState[];
}

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** The offset of the next record to be consumed; all before it are acknowledged and committed. */
  readonly position: number;
  /** The offset after the last record; undefined until a fetch has told. */
  readonly highWatermark: number | undefined;
  /** Records that are yet to be consumed. */
  readonly lag: number | undefined;
  /**
   * The age of the record at the position, or of the record before if that one is not handed over yet; 0 without a lag,
   * undefined if no record of the partition has been seen.
   */
  readonly lagSeconds: number | undefined;
  /**
   * `stopped`: the next record batch can't be decoded. `held`: it waits for the bus, the dead-letter topic, or less
   * pressure.
   */
  readonly state: 'consuming' | 'held' | 'stopped';
  /** Why it is held or stopped. */
  readonly reason: string | undefined;
}

export interface HeldBatch {
  readonly topic: string;
  readonly partition: number;
  /** Why it was not taken. */
  readonly reason: string;
}

interface PartitionSigns {
  /** The time of the record at the position, or the one before it, ms since 1970; undefined if none has been seen. */
  readonly time: number | undefined;
  /** ms since 1970 */
  readonly now: number;
  /** Why it is stopped by a bad batch. */
  readonly stopped: string | undefined;
  /** Why it is held; undefined if it is not. */
  readonly held: HeldBatch | undefined;
}

export function partitionState(at: PartitionPosition, signs: PartitionSigns): PartitionState {
  const { topic, partition, position, highWatermark } = at;
  const { time, now, stopped, held } = signs;
  const lag = highWatermark === undefined ? undefined : Math.max(0, highWatermark - position);
  const age = time === undefined ? undefined : Math.max(0, now - time) / 1_000;
  const known = { topic, partition, position, highWatermark, lag, lagSeconds: lag === 0 ? 0 : age };
  if (stopped !== undefined) return { ...known, state: 'stopped', reason: stopped };
  return held === undefined
    ? { ...known, state: 'consuming', reason: undefined }
    : { ...known, state: 'held', reason: held.reason };
}
