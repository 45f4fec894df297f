/**
 * A place in the messages of a topic. Kept messages have sequences, which increase across all channels of the topic and
 * start anew with each epoch. A bus begins a new epoch where messages may have been left out.
 */
export interface HistoryPosition {
  readonly epoch: string;
  readonly sequence: number;
}

/**
 * A branch is the part of an epoch that one server has numbered. When a replica becomes the master, sequences go on in a
 * branch of its own, so none is given twice even if the former master goes on too. No server numbers as many messages as that.
 */
export const BRANCH_SEQUENCES = 2 ** 32;

export function branchOf({ sequence }: Pick<HistoryPosition, 'sequence'>): number {
  return Math.floor(sequence / BRANCH_SEQUENCES);
}

/** A channel holds up to `SLACK` times `size` messages before it is cut back to `size`: not each message causes a cut. */
export const SLACK = 1.25;

/** How much is read at most. Beyond that, the earliest messages are left out. */
export interface HistoryBounds {
  /** Messages of each channel. Default: all. */
  readonly last?: number;
  /** Bytes of all messages together, counted as by `bytesOf`. */
  readonly maxBytes: number;
}

/** The kept messages of one channel. */
export interface KeptMessages {
  readonly channel: string;
  /** All messages of the channel with higher sequences are there. */
  readonly from: number;
  /** Whether these are all kept messages: false if the bounds left some out. */
  readonly isAll: boolean;
  /** In order; some may have lower sequences than `from`. */
  readonly messages: readonly (Buffer | string)[];
}

/** The kept messages of some channels of one topic, all read at one moment. */
export interface HistoryRead {
  /** The position of the topic's last message when it was read. */
  readonly position: HistoryPosition;
  /**
   * The last sequence that this server has of the branch that was read from, 0 if it has none: another master may have given
   * more. Undefined if it is the branch of the position.
   */
  readonly branchEnd?: number | undefined;
  /** How many messages of a channel are kept, at least. */
  readonly size: number;
  /** Whether messages are left out because they take too many bytes. */
  readonly isCut: boolean;
  /** The channels in the order in which they were asked for. */
  readonly channels: readonly KeptMessages[];
}

/** Thrown if nothing can be read: the topic has no history, or the bus can't read it at present. */
export class NoHistory extends Error {
  readonly reason: string;

  constructor(topic: string, reason: string) {
    super(`the history of ${topic} can not be read: ${reason}`);
    this.name = 'NoHistory';
    this.reason = reason;
  }
}

/** Bytes that a message takes once it is read, besides its text. */
export const BYTES_PER_MESSAGE = 256;

/** Bytes that a message counts as once it is read. */
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

/** Returns a name that no other epoch has had. */
export function newEpoch(): string {
  return crypto.getRandomValues(new Uint32Array(2)).reduce((text, half) => text + half.toString(36), '');
}
