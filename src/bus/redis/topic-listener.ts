import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Listener } from '../bus.ts';
import type { Clock } from '../../support/clock.ts';
import {
  branchOf,
  NoHistory,
  positionOf,
  type HistoryBounds,
  type HistoryPosition,
  type HistoryRead,
} from '../history.ts';
import type { ByteSource } from '../../support/byte-budget.ts';

interface TopicListenerOptions {
  readonly topic: string;
  readonly read: (since: number, channels: readonly string[], bounds: HistoryBounds) => Promise<HistoryRead>;
  /** Reserves bytes for what is read. Each topic is an owner. */
  readonly room: ByteSource;
  /** Resolves once this pod has heard all messages that were published before the call. */
  readonly fence: () => Promise<void>;
  /** Messages may be missing before those that are heard next. */
  readonly missed: () => void;
  /** All missed messages have been passed on. */
  readonly healed: () => void;
  /** The history has a new epoch, in which possibly none of its channels is kept. */
  readonly begunAnew: () => void;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly log: Log;
}

interface Heard {
  readonly channel: string;
  readonly payload: Buffer | string;
  /** Undefined: it was published without history. */
  readonly position: HistoryPosition | undefined;
}

interface Missed {
  readonly position: HistoryPosition;
  readonly messages: readonly Heard[];
}

/** Beyond it, messages that are held while history is read are passed on, and earlier ones count as missed. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Bytes for the first attempt to read. If they are not enough, the next one gets more. */
const FIRST_READ_BYTES = 1024 * 1024;

/**
 * The pause between attempts to read history while the other connection to Redis is down, and the longest time for all. If
 * that connection is half open, 10 s pass before it is made anew.
 */
const RETRY_MS = 50;
const LONGEST_MS = 15_000;

/**
 * Hears the messages of a topic with history. After a lost connection it holds what arrives, reads what was missed, and
 * passes both on in order:
 *
 *     heard   1 2 3 ╳            connection lost
 *     held              6 7      over the next one, until history has been read
 *     read          4 5 6
 *     passed on     4 5 6 7
 */
export class TopicListener {
  readonly #options: TopicListenerOptions;
  readonly #listeners = new Map<string, Listener>();
  /** Channels that must get all messages after a position; undefined: all that have not been passed on. */
  readonly #joined = new Map<string, HistoryPosition | undefined>();
  /** All messages up to it have been passed on. */
  #position: HistoryPosition | undefined;
  /** The sequence of the last message. The same event may still arrive on other channels. */
  #lastSequence = -1;
  readonly #lastChannels: string[] = [];
  /** Called once what was held has been passed on. */
  #untilHealed: (() => void)[] = [];
  /** The furthest position heard when it was last known that nothing before it was missing. */
  #confirmed: HistoryPosition | undefined;
  /** The furthest position heard when this pod last heard its own heartbeat. */
  #atBeat: HistoryPosition | undefined;
  /** Messages that are held; undefined while the connection is fine. */
  #held: Heard[] | undefined;
  #heldBytes = 0;

  constructor(options: TopicListenerOptions) {
    this.#options = options;
  }

  get position(): HistoryPosition | undefined {
    return this.#position;
  }

  /** The furthest position that has been heard; messages before it may be missing. */
  get heard(): HistoryPosition | undefined {
    const last = this.#position;
    return last && { epoch: last.epoch, sequence: Math.max(last.sequence, this.#lastSequence) };
  }

  /** The server that this pod listens to was at this position a moment before, and this pod has heard all up to it. */
  stands(position: HistoryPosition): void {
    // The connection was lost meanwhile.
    if (this.#held !== undefined) return;
    this.#advance(position);
    const confirmed = this.#confirmed;
    if (confirmed?.epoch === position.epoch) {
      // In another branch, the server may have been a replica since: the next heartbeat finds out.
      if (branchOf(confirmed) !== branchOf(position) || confirmed.sequence >= position.sequence) return;
    }
    // A heartbeat that was heard before may still be confirmed.
    this.#confirmed = this.#atBeat = position;
  }

  #advance(position: HistoryPosition): void {
    const last = this.#position;
    if (last !== undefined && last.epoch !== position.epoch) {
      this.#lastSequence = -1;
      this.#options.begunAnew();
    }
    if (last?.epoch !== position.epoch || last.sequence < position.sequence) this.#position = position;
  }

  /** This pod hears its own heartbeat. */
  heardBeat(): void {
    this.#atBeat = this.heard;
  }

  /** The heartbeat came over the server that is published to: this pod has heard all that was published before it. */
  confirm(): void {
    if (this.#held === undefined) this.#confirmed = this.#atBeat;
  }

  /**
   * This pod was found to listen to another server than the one that is published to. Its server may be a replica of that
   * one by now: then the last messages came through it, after the ones that this pod missed.
   */
  doubt(): void {
    const { heard } = this;
    if (heard === undefined || this.#held !== undefined) return;
    const { epoch, sequence } = this.#confirmed ?? {};
    if (heard.epoch === epoch && heard.sequence === sequence) return;
    this.#options.missed();
    // The gap has been told up to there.
    this.#confirmed = this.#atBeat = heard;
  }

  /** @returns the listener to be called with the messages of the channel as they arrive */
  listen(channel: string, listener: Listener): Listener {
    this.#listeners.set(channel, listener);
    return (payload) => this.#hear(channel, payload);
  }

  /**
   * The channel is subscribed to, and kept: from now on none of its messages may be missed.
   *
   * @param at the topic's position when Redis began to keep the channel; undefined: it could not be kept
   */
  joined(channel: string, at: HistoryPosition | undefined): void {
    this.#joined.set(channel, at);
  }

  leave(channel: string): void {
    this.#listeners.delete(channel);
    this.#joined.delete(channel);
  }

  /** The connection is lost: messages may be missing before the next ones that this pod hears. */
  hold(): void {
    if (this.#held === undefined && this.#isFromOtherServer()) this.#options.missed();
    this.#held = [];
    this.#heldBytes = 0;
  }

  /**
   * Whether the last messages were numbered by another server than the confirmed ones. Then the server that this pod listened to
   * may have become a replica: the present master does not know its listeners, and publishes nothing that only they want.
   */
  #isFromOtherServer(): boolean {
    const [heard, confirmed] = [this.heard, this.#confirmed];
    if (heard === undefined || confirmed === undefined) return false;
    return heard.epoch !== confirmed.epoch || branchOf(heard) !== branchOf(confirmed);
  }

  /** Whether what arrives is held, until what was missed has been read. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** Resolves once nothing is held. */
  async healed(): Promise<void> {
    if (this.isHolding) await new Promise<void>((resolve) => this.#untilHealed.push(resolve));
  }

  /** All channels have been joined again. To be called after `hold`, once for each new connection. */
  async heal(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const { room } = this.#options;
    let read: HistoryRead | undefined;
    try {
      for (let bytes = FIRST_READ_BYTES; ; bytes *= 4) {
        // No bytes are reserved while it waits for more, so the next attempt reads everything again.
        const most = Math.min(bytes, room.mostOfOwner);
        const reservation = room.tryReserve(most, this) ?? (await room.reserve(most, this));
        try {
          read = await this.#read(held, { maxBytes: reservation.bytes });
          // Otherwise the connection was lost again, or there was too much to hold.
          if (this.#held !== held) return;
          if (read.isCut && bytes < room.mostOfOwner) continue;
          this.#passOnMissed(held, this.#missedOf(read));
          return;
        } finally {
          reservation.release();
        }
      }
    } catch (thrown) {
      if (this.#held !== held) return;
      this.#giveUp(messageOf(thrown));
      if (read === undefined) return;
      // The gap has been told up to there.
      this.#readUpTo(read.position);
    }
  }

  /** The topic has no history any more: what is held is passed on without what came before. */
  end(): void {
    if (this.#held !== undefined) this.#giveUp('the topic is not kept any more');
  }

  /** Redis sends messages in the order of publication: all after the last one that was read are later. */
  #passOnMissed(held: readonly Heard[], { position, messages }: Missed): void {
    const lastRead = held.findLastIndex(
      (heard) => heard.position?.epoch === position.epoch && heard.position.sequence <= position.sequence,
    );
    this.#held = undefined;
    for (const heard of messages) this.#passOn(heard);
    this.#readUpTo(position);
    this.#options.healed();
    this.#release(held.slice(lastRead + 1));
  }

  #readUpTo(position: HistoryPosition): void {
    this.#advance(position);
    this.#confirmed = this.#atBeat = this.heard;
  }

  /** @throws if it can't be read */
  async #read(held: readonly Heard[], bounds: HistoryBounds): Promise<HistoryRead> {
    const { read, fence, clock } = this.#options;
    const began = clock.now();
    for (;;) {
      try {
        const history = await read(this.#position?.sequence ?? 0, [...this.#listeners.keys()], bounds);
        await fence();
        return history;
      } catch (thrown) {
        const isLate = clock.now() - began > LONGEST_MS;
        if (thrown instanceof NoHistory || isLate || this.#held !== held) throw thrown;
        await clock.sleep(RETRY_MS, new AbortController().signal);
      }
    }
  }

  /** @throws if messages are missing */
  #missedOf({ position, channels, isCut }: HistoryRead): Missed {
    const last = this.#position;
    if (last === undefined) throw new Error('no message with a position has been heard before');
    if (isCut) throw new Error(`expected at most ${this.#options.room.mostOfOwner} bytes, got more`);
    if (position.epoch !== last.epoch) throw new Error('the history has begun anew');
    const messages = channels.flatMap(({ channel, from, messages: kept }) => {
      // Other channels may be joined while the connection is down: they miss nothing that came before.
      const joined = this.#joined.get(channel);
      const begin = Math.max(last.sequence, joined?.epoch === last.epoch ? joined.sequence : 0);
      if (from > begin && this.#joined.has(channel)) {
        throw new Error(`expected all of ${channel} behind ${begin}, got what is behind ${from}`);
      }
      return kept.map((payload) => heardOn(channel, payload));
    });
    const due = messages.filter((heard) => {
      const sequence = sequenceOf(heard);
      const isPassed = sequence === this.#lastSequence && this.#lastChannels.includes(heard.channel);
      return sequence > last.sequence && sequence <= position.sequence && !isPassed;
    });
    return { position, messages: due.toSorted((one, other) => sequenceOf(one) - sequenceOf(other)) };
  }

  #hear(channel: string, payload: Buffer | string): void {
    const heard = heardOn(channel, payload);
    if (this.#held === undefined) {
      this.#passOn(heard);
      return;
    }
    this.#held.push(heard);
    this.#heldBytes += payload.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#giveUp(`more than ${MAX_HELD_BYTES} bytes arrived meanwhile`);
  }

  #release(messages: readonly Heard[]): void {
    this.#held = undefined;
    for (const heard of messages) this.#passOn(heard);
    for (const resolve of this.#untilHealed.splice(0)) resolve();
  }

  #passOn({ channel, payload, position }: Heard): void {
    if (position !== undefined) this.#passing(channel, position);
    this.#listeners.get(channel)?.(payload);
  }

  #passing(channel: string, { epoch, sequence }: HistoryPosition): void {
    this.#advance({ epoch, sequence: sequence - 1 });
    if (sequence !== this.#lastSequence) this.#lastChannels.length = 0;
    this.#lastSequence = sequence;
    this.#lastChannels.push(channel);
  }

  #giveUp(reason: string): void {
    const { topic, log, missed } = this.#options;
    log.info({ topic, reason }, 'what was missed while the connection was lost can not be read');
    missed();
    this.#release(this.#held ?? []);
  }
}

function heardOn(channel: string, payload: Buffer | string): Heard {
  return { channel, payload, position: positionOf(payload) };
}

function sequenceOf({ position }: Heard): number {
  return position?.sequence ?? 0;
}
