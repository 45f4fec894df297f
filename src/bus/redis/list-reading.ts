import {
  positionOf,
  type HistoryBounds,
  type HistoryPosition,
  type HistoryRead,
  type KeptMessages,
} from '../history.ts';

/** An element of a list that is no message. */
const MARK = /^\{"h":\["[0-9a-z]+",\d+\]\}$/;

/** JOIN replies with one of these in place of a sequence. */
const WANTED = -1;
const GOES_ON = -2;
const FULL = -3;

/** The reply to JOIN. */
export type JoinReply = readonly [
  epoch: string,
  sequence: number,
  bytes: number,
  branchEnd: number,
  ...lists: readonly (readonly [from: number, ...messages: readonly string[]])[],
];

/** Lists that are read by several calls of JOIN, one after the other. */
export class ListReading {
  readonly #channels: readonly string[];
  readonly #last: number;
  readonly #kept: KeptMessages[] = [];
  /** Messages of the channel that comes next, the last one first. */
  #messages: string[] = [];
  #room: number;
  #isCut = false;
  #position: HistoryPosition | undefined;
  #branchEnd: number | undefined;

  constructor(channels: readonly string[], { last = Number.MAX_SAFE_INTEGER, maxBytes }: HistoryBounds) {
    this.#channels = channels;
    this.#last = last;
    this.#room = maxBytes;
  }

  /** The topic's position at the first call: later messages reach this pod anyway. */
  get position(): HistoryPosition | undefined {
    return this.#position;
  }

  get isOver(): boolean {
    return this.#position !== undefined && (this.#isCut || this.#kept.length === this.#channels.length);
  }

  /** The channels of the next call, at most `count`. */
  next(count: number): readonly string[] {
    return this.#channels.slice(this.#kept.length, this.#kept.length + count);
  }

  /** Arguments 8 to 11 of the next call. */
  get bounds(): readonly string[] {
    const before = positionOf(this.#messages.at(-1) ?? '')?.sequence ?? Number.MAX_SAFE_INTEGER;
    return [this.#last, this.#room, before, this.#messages.length].map(String);
  }

  /** @param reply to the next call; its epoch is that of the first */
  take([epoch, sequence, bytes, branchEnd, ...lists]: JoinReply): void {
    this.#position ??= { epoch, sequence };
    if (branchEnd >= 0) this.#branchEnd ??= branchEnd;
    this.#room -= bytes;
    for (const [from, ...messages] of lists) {
      // A list that several calls read may be long: it must not be spread.
      for (const message of messages) this.#messages.push(message);
      if (from !== GOES_ON) this.#end(from);
    }
  }

  /** @param size how many messages of a channel are kept, at least */
  read(size: number): HistoryRead {
    if (this.#position === undefined) throw new Error('expected the reply to a call, got none');
    const unread = this.#channels.slice(this.#kept.length);
    const channels = [...this.#kept, ...unread.map((channel) => this.#keptIn(channel, WANTED))];
    return {
      position: this.#position,
      branchEnd: this.#branchEnd,
      size,
      isCut: this.#isCut,
      channels,
    };
  }

  #end(from: number): void {
    if (from === FULL) this.#isCut = true;
    this.#kept.push(this.#keptIn(this.#channels[this.#kept.length] ?? '', from));
    this.#messages = [];
  }

  /** @param from below 0: the list is complete after the message before the first one that was read */
  #keptIn(channel: string, from: number): KeptMessages {
    const first = positionOf(this.#messages.at(-1) ?? '')?.sequence;
    const start = first === undefined ? (this.#position?.sequence ?? 0) : first - 1;
    return {
      channel,
      from: from < 0 ? start : from,
      isAll: from >= 0,
      messages: this.#messages.filter((element) => !MARK.test(element)).toReversed(),
    };
  }
}
