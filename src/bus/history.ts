/**
 * A place in the messages of a topic. Those that are kept have sequences, which increase over all channels of the topic,
 * and begin anew with each epoch: a bus begins another one where messages may have been left out.
 */
export interface HistoryPosition {
  readonly epoch: string;
  readonly sequence: number;
}

/**
 * A branch is what one server has given out of an epoch. Where a replica becomes the master, sequences go on with the next
 * branch, so that none is given twice, though the former master may go on beside it. No server gives as many as a branch has.
 */
export const BRANCH_SEQUENCES = 2 ** 32;

export function branchOf({ sequence }: Pick<HistoryPosition, 'sequence'>): number {
  return Math.floor(sequence / BRANCH_SEQUENCES);
}

/**
 * Beyond `size`, in parts of it: then what is kept of a channel is cut back to `size`, so that it is not cut at each
 * message.
 */
export const SLACK = 1.25;

/** How much is read at most: the messages that come first are left out. */
export interface HistoryBounds {
  /** Messages of each channel. Default: all. */
  readonly last?: number;
  /** Bytes of all messages together, counted as by `bytesOf`. */
  readonly maxBytes: number;
}

/** What is kept of one channel. */
export interface KeptMessages {
  readonly channel: string;
  /** All messages of the channel with higher sequences are there. */
  readonly from: number;
  /** No more is kept: false if the bounds have left out messages. */
  readonly isAll: boolean;
  /** In order; those with lower sequences may be among them. */
  readonly messages: readonly (Buffer | string)[];
}

/** What is kept of some channels of one topic, all read at one moment. */
export interface HistoryRead {
  /** The position of the topic's last message when it was read. */
  readonly position: HistoryPosition;
  /**
   * The last sequence that is kept of the branch from which on it was read: a former master may have given more. Undefined for
   * the branch of the position.
   */
  readonly branchEnd?: number | undefined;
  /** How many messages of a channel are kept, at least. */
  readonly size: number;
  /** Messages are left out because they take too many bytes. */
  readonly isCut: boolean;
  /** The channels in the order in which they were asked for. */
  readonly channels: readonly KeptMessages[];
}

/** Why nothing can be read: the topic has no history, or the bus has none of it at present. */
export class NoHistory extends Error {
  readonly reason: string;

  constructor(topic: string, reason: string) {
    super(`the history of ${topic} can not be read: ${reason}`);
    this.name = 'NoHistory';
    this.reason = reason;
  }
}

/** Taken by a message that is read, besides its text. */
export const BYTES_PER_MESSAGE = 256;

/** A message that is read counts as so many. */
export const bytesOf = (payload: Buffer | string): number => payload.length + BYTES_PER_MESSAGE;

/** `{"h":["<epoch>",<sequence>],`: a message that is kept begins with its position. */
const HEAD = /^\{"h":\["([0-9a-z]+)",(\d+)\],?/;

/** Longer than any head. */
const HEAD_BYTES = 64;

/** The position that a message begins with; undefined for one that is not kept. */
export function positionOf(payload: Buffer | string): HistoryPosition | undefined {
  const head = typeof payload === 'string' ? payload : payload.toString('latin1', 0, HEAD_BYTES);
  const [, epoch, sequence] = HEAD.exec(head) ?? [];
  return epoch === undefined ? undefined : { epoch, sequence: Number(sequence) };
}

/** The message with its position at its beginning. @param payload a JSON object that is not empty */
export function withPosition({ epoch, sequence }: HistoryPosition, payload: string): string {
  return `{"h":["${epoch}",${sequence}],${payload.slice(1)}`;
}

/** A name of an epoch that no other has had. */
export function newEpoch(): string {
  return crypto.getRandomValues(new Uint32Array(2)).reduce((text, half) => text + half.toString(36), '');
}
