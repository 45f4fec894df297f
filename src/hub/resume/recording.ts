import { BRANCH_SEQUENCES, BYTES_PER_MESSAGE, SLACK, type HistoryPosition } from '../../bus/history.ts';
import type { Message } from '../../events/message.ts';
import { ChannelOffsets } from '../dedupe.ts';
import type { RecordingRoom } from './recording-room.ts';

/** A message with a position in its topic's history. */
export interface RecordedMessage {
  readonly sequence: number;
  readonly message: Message;
  /** Length of the message as it came over the bus. */
  readonly bytes: number;
}

/** What the bus has kept of a channel. */
export interface KeptRecord {
  /** The position of the topic when the bus was asked. */
  readonly position: HistoryPosition;
  /** How many messages of a channel the bus keeps, at least. */
  readonly size: number;
  /** All messages behind this sequence are there. */
  readonly from: number;
  /** Nothing more is kept. */
  readonly isAll: boolean;
  /** In order. */
  readonly messages: readonly RecordedMessage[];
}

/**
 * The messages of one channel without a gap, from some position of its topic on: what the bus has kept of it, and what the
 * channel has carried since.
 *
 *     bus      3 4 5 6            asked when the topic was at 6
 *     channel        6 7 8        carried since before
 *              3 4 5 6 7 8
 *
 * While clients resume one after the other, it stays in use, so it holds no more messages than the bus keeps.
 */
export class Recording {
  #room: RecordingRoom;
  /** The epoch of all its messages; undefined until what the bus has kept is there. */
  #epoch: string | undefined;
  #from = Infinity;
  /** Messages up to this sequence were recorded, and may have been cut off since. */
  #cutTo = 0;
  #isAll = false;
  #size = Infinity;
  /** All that was carried up to this position of the topic is there. */
  #upTo = 0;
  #isBroken = false;
  #isMissing = false;
  #messages: readonly RecordedMessage[] = [];
  #bytes = 0;

  constructor(room: RecordingRoom) {
    this.#room = room;
  }

  /** Nothing is recorded any more. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Broken because the channel may have missed messages. If it broke otherwise, the bus may be asked again. */
  get isMissing(): boolean {
    return this.#isMissing;
  }

  get isRead(): boolean {
    return !this.#isBroken && this.#epoch !== undefined;
  }

  /** Whether the bus has to be asked for what was carried behind this position. */
  lacks({ epoch, sequence }: HistoryPosition): boolean {
    return this.#isBroken || epoch !== this.#epoch || (sequence < this.#from && !this.#isAll);
  }

  /** Whether it has the last `count` messages, or all if there are fewer. */
  hasLast(count: number, epoch: string): boolean {
    const isRead = !this.#isBroken && epoch === this.#epoch;
    return isRead && (this.#isAll || this.#messages.length >= count);
  }

  /** How many sequences further back it would have to go for this position. */
  shortOf({ epoch, sequence }: HistoryPosition): number {
    const short = this.isRead && epoch === this.#epoch ? Math.max(0, this.#from - sequence) : 0;
    // Sequences of another branch tell nothing of how many there are between.
    return short < BRANCH_SEQUENCES ? short : 0;
  }

  /** Whether no message after this sequence has been cut off. */
  reaches(sequence: number): boolean {
    return !this.#isBroken && this.#cutTo <= sequence;
  }

  /** Whether it has all messages that the channel has carried after this position. */
  covers({ epoch, sequence }: HistoryPosition): boolean {
    const last = this.#messages.at(-1)?.sequence ?? 0;
    const isReached = epoch === this.#epoch && sequence <= Math.max(this.#upTo, last);
    return !this.#isBroken && this.#from <= sequence && isReached;
  }

  /** Notes that it has all messages that the channel has carried up to this position of the topic. */
  advance({ epoch, sequence }: HistoryPosition): void {
    if (epoch === this.#epoch) this.#upTo = Math.max(this.#upTo, sequence);
  }

  /** It has all messages that the channel has carried after this sequence. */
  get from(): number {
    return this.#from;
  }

  /** The last `count` messages, or all if there are fewer. */
  last(count: number): readonly RecordedMessage[] {
    return this.#messages.slice(-count);
  }

  /** The first message behind this sequence. */
  behind(sequence: number): RecordedMessage | undefined {
    let [low, high] = [0, this.#messages.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#messages[middle]?.sequence ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    return this.#messages[low];
  }

  /** Adds a message that the channel has carried. */
  add(message: Message, bytes: number): void {
    if (this.#isBroken) return;
    const [epoch, sequence] = message.h ?? [];
    if (sequence === undefined || (this.#epoch !== undefined && this.#epoch !== epoch)) {
      this.break();
      return;
    }
    (this.#messages as RecordedMessage[]).push({ sequence, message, bytes });
    if (!this.#resize(this.#bytes + bytes + BYTES_PER_MESSAGE)) return;
    if (this.#messages.length > this.#size * SLACK) this.#cut();
  }

  /**
   * Puts the messages that the bus has kept before those that the channel has carried since the bus was asked.
   *
   * @param room where the bytes of all messages are reserved from now on
   */
  complete({ position, size, from, isAll, messages }: KeptRecord, room: RecordingRoom): void {
    if (this.#isBroken) return;
    if (from > this.#from && this.#epoch === position.epoch) {
      this.#isAll ||= isAll;
      this.advance(position);
      return;
    }
    const carried = this.#messages.filter(({ sequence }) => sequence > position.sequence);
    if (this.#messages.some(({ message }) => message.h?.[0] !== position.epoch)) {
      this.break();
      return;
    }
    const offsets = new ChannelOffsets();
    // Keeps the objects of carried messages: they may have been executed already.
    const known = new Map(this.#messages.map((recorded) => [recorded.sequence, recorded]));
    const kept = messages
      .filter(({ sequence, message }) => sequence <= position.sequence && offsets.see(message) !== 'seen')
      .map((recorded) => known.get(recorded.sequence) ?? recorded);
    this.#messages = [...kept, ...carried];
    const isSameEpoch = this.#epoch === undefined || this.#epoch === position.epoch;
    this.#cutTo = isSameEpoch ? Math.min(this.#cutTo, from) : from;
    this.#epoch = position.epoch;
    this.#from = from;
    this.#isAll = isAll;
    this.#size = size;
    this.#upTo = Math.max(this.#upTo, position.sequence);
    this.#resize(0);
    this.#room = room;
    this.#resize(bytesOf(this.#messages));
  }

  /** The channel may have missed messages. */
  break(): void {
    this.#isMissing = true;
    this.forget();
  }

  /** What is recorded is not needed, or there is no room for it. */
  forget(): void {
    this.#isBroken = true;
    this.#messages = [];
    this.#resize(0);
  }

  #cut(): void {
    this.#from = this.#messages.at(-this.#size - 1)?.sequence ?? this.#from;
    this.#cutTo = this.#from;
    this.#messages = this.#messages.slice(-this.#size);
    this.#resize(bytesOf(this.#messages));
  }

  /** @returns false if there is no room for as many: then all are forgotten */
  #resize(bytes: number): boolean {
    const hasRoom = this.#room.take(bytes - this.#bytes);
    if (hasRoom) this.#bytes = bytes;
    else this.forget();
    return hasRoom;
  }
}

function bytesOf(messages: readonly RecordedMessage[]): number {
  return messages.reduce((sum, { bytes }) => sum + bytes + BYTES_PER_MESSAGE, 0);
}
