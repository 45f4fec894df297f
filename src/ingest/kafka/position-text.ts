/**
 * The text that goes with each commit of a position. Pods of the previous version know only the first three words: they
 * can't read a text with fields, so they go on at its position. A field's name and value hold no spaces and no `=`.
 */
export interface PositionText {
  /** Names the topic that the position belongs to. Undefined: brokers before 2.8 have none. */
  readonly topicId: string | undefined;
  /** How many of the topic's partitions are settled: see StartPositions. */
  readonly settled: number;
  /** The id of the bus that the pod publishes to. Undefined: the pod knows none. */
  readonly bus: string | undefined;
  /**
   * How often the group has reset its position because the log had lost consumed records: the next records may have
   * offsets, and leader epochs, that were given before. Each record carries this number: see logEpoch.
   */
  readonly resets: number;
  /**
   * A fetch names the leader epoch of the record before the position, so that the broker tells where the log differs from what
   * was consumed. Undefined: not known.
   */
  readonly leaderEpoch: number | undefined;
  /** Marks of the patterns by which the topic is consumed. Undefined: it is consumed by its name. */
  readonly patterns?: string | undefined;
}

/** The part of the text that distinguishes logs with the same offsets. */
export type LogBefore = Pick<PositionText, 'resets' | 'leaderEpoch'>;

const TEXT = /^sluice1 (?<id>\S+) (?<settled>\d+)(?<fields>(?: [a-z]+=[^\s=]+)*)$/;
/** Five digits, so that positions remain exact numbers. */
const RESETS = / resets=(?<resets>\d{1,5})(?!\S)/;
const EPOCH = / epoch=(?<epoch>\d{1,10})(?!\S)/;
const NO_ID = '-';

/** @returns undefined if the text is not from a pod, or is from a later version with another format */
export function readPositionText(text: string | null): PositionText | undefined {
  const { id = NO_ID, settled, fields = '' } = TEXT.exec(text ?? '')?.groups ?? {};
  if (settled === undefined) return undefined;
  const bus = / bus=(?<bus>\S+)/.exec(fields)?.groups?.['bus'];
  const resets = RESETS.exec(fields)?.groups?.['resets'];
  const epoch = EPOCH.exec(fields)?.groups?.['epoch'];
  const patterns = / patterns=(?<patterns>\S+)/.exec(fields)?.groups?.['patterns'];
  return {
    topicId: id === NO_ID ? undefined : id,
    settled: Number(settled),
    bus,
    resets: Number(resets ?? 0),
    leaderEpoch: epoch === undefined ? undefined : Number(epoch),
    ...(patterns !== undefined && { patterns }),
  };
}

export function writePositionText({
  topicId = NO_ID,
  settled,
  bus,
  resets,
  leaderEpoch,
  patterns,
}: PositionText): string {
  const fields = [
    bus !== undefined && `bus=${bus}`,
    resets > 0 && `resets=${resets}`,
    leaderEpoch !== undefined && `epoch=${leaderEpoch}`,
    patterns !== undefined && `patterns=${patterns}`,
  ];
  return ['sluice1', topicId, settled, ...fields.filter((field) => field !== false)].join(' ');
}
