import { setImmediate } from 'node:timers/promises';
import type { Bus } from '../../bus/bus.ts';
import { NoHistory, type HistoryRead } from '../../bus/history.ts';
import type { Message } from '../../events/message.ts';
import { ownBytes, type ByteSource, type Reservation } from '../../support/byte-budget.ts';
import type { WorkOwner } from '../../support/fair-limiter.ts';
import { BatchedReads } from './batched-reads.ts';
import { Recording, type RecordedMessage } from './recording.ts';
import { lacking, RecordingRequest, type RecordedChannel, type Wish } from './recording-request.ts';
import { RecordingRoom } from './recording-room.ts';

export interface RecordingServices {
  readonly readHistory: Bus['readHistory'];
  /** Bytes are reserved here for what is read and recorded. Default: 64 MiB, of which one owner may have all. */
  readonly room?: ByteSource | undefined;
  /** Calls back once all messages that the bus has passed on have been taken. */
  readonly afterWaiting: (callback: () => void) => void;
  /** Decodes a payload as one of a channel; undefined for a message of an unknown version. */
  readonly decode: (payload: Buffer | string) => Message | undefined;
}

interface Use {
  users: number;
  /** Runs while there are none. */
  timer: NodeJS.Timeout | undefined;
}

const DEFAULT_BYTES = 64 * 1024 * 1024;

/**
 * The first request to the bus allows so many bytes, each further one four times as many: most subscribers lack little, and
 * thousands of them may wait at once while the bus is away.
 */
const FIRST_BYTES = 16 * 1024;

/** A recording is kept so long after its last use, since clients that reconnect come one after the other: ms. */
const KEPT_MS = 5_000;

/** Most bytes of kept messages that are decoded in one turn of the event loop. */
const BYTES_PER_TURN = 128 * 1024;

/** A channel that is interrupted so often while the bus is asked is not recorded. */
const MAX_ATTEMPTS = 5;

/**
 * Records channels for subscribers that resume. Bytes are reserved before the bus is asked, out of the share of whoever
 * wants them, and stay reserved for as long as they are recorded:
 *
 *     wanted ──► reserved ──► read ──► decoded ──► recorded ──► dropped
 *                  ▲            └── there is more: all of it is given back, and four times as much is waited for
 *                  └── nothing is held or in use by whoever waits
 */
export class Recordings {
  readonly #services: RecordingServices;
  readonly #room: ByteSource;
  readonly #batched: BatchedReads;
  /** By owner: requests that have no room yet, so that others may join them. */
  readonly #waiting = new Map<WorkOwner, Set<RecordingRequest>>();
  /** Channels that the bus is being asked for; resolves when it has answered. */
  readonly #asked = new Map<RecordedChannel, Promise<void>>();
  readonly #uses = new Map<RecordedChannel, Use>();
  /** Recorded channels without users, the longest unused first. */
  readonly #unused = new Set<RecordedChannel>();
  /** In this turn of the event loop. */
  #decodedBytes = 0;

  constructor(services: RecordingServices) {
    this.#services = services;
    this.#room = services.room ?? ownBytes(DEFAULT_BYTES);
    this.#batched = new BatchedReads(services.readHistory);
  }

  /**
   * Resolves once the wanted messages of the channels are recorded, or as many of them as the bus has kept. If they take
   * more than the owner's share, perhaps none are recorded; of the last messages, as many as fit. The caller has to release
   * the channels.
   *
   * @throws NoHistory, or that the subscriber has left
   */
  async open(topic: string, channels: readonly RecordedChannel[], wish: Wish): Promise<void> {
    let isAlone = false;
    for (let attempt = 0; ;) {
      const lacked = lacking(channels, wish);
      if (lacked.length === 0) break;
      const asked = lacked.flatMap((channel) => this.#asked.get(channel) ?? []);
      if (asked.length > 0) {
        await Promise.all(asked);
        continue;
      }
      attempt += 1;
      if (attempt > MAX_ATTEMPTS) throw new NoHistory(topic, 'it is interrupted again and again');
      const isRead = await this.#request(topic, lacked, wish, isAlone);
      if (!isRead && isAlone) break;
      // Together with what others of the owner want, it may have been too much.
      isAlone = !isRead;
    }
    this.use(channels);
  }

  /** Keeps recordings until they have been released as often as they were used. */
  use(channels: Iterable<RecordedChannel>): void {
    for (const channel of channels) {
      const use = this.#uses.get(channel) ?? { users: 0, timer: undefined };
      clearTimeout(use.timer);
      use.users += 1;
      this.#uses.set(channel, use);
      this.#unused.delete(channel);
    }
  }

  release(channels: Iterable<RecordedChannel>): void {
    for (const channel of channels) {
      const use = this.#uses.get(channel);
      if (use === undefined) continue;
      use.users -= 1;
      if (use.users > 0) continue;
      this.#unused.add(channel);
      if (this.#room.waiting > 0) this.#drop(channel);
      else use.timer = setTimeout(() => this.#drop(channel), KEPT_MS).unref();
    }
  }

  #drop(channel: RecordedChannel): void {
    clearTimeout(this.#uses.get(channel)?.timer);
    this.#uses.delete(channel);
    this.#unused.delete(channel);
    channel.recording?.forget();
    channel.recording = undefined;
  }

  #request(
    topic: string,
    channels: readonly RecordedChannel[],
    wish: Wish,
    isAlone: boolean,
  ): Promise<boolean> {
    wish.leaving.throwIfAborted();
    const waiting = this.#waiting.get(wish.owner) ?? new Set();
    this.#waiting.set(wish.owner, waiting);
    let request: RecordingRequest | undefined;
    if (!isAlone) for (const other of waiting) if (other.suits(topic, wish)) request = other;
    if (request === undefined) {
      request = new RecordingRequest(topic, wish, isAlone);
      waiting.add(request);
      void this.#ask(request);
    }
    return request.join(channels, wish);
  }

  async #ask(request: RecordingRequest): Promise<void> {
    const { mostOfOwner } = this.#room;
    try {
      await setImmediate();
      for (let bytes = Math.min(FIRST_BYTES, mostOfOwner); ; bytes = Math.min(4 * bytes, mostOfOwner)) {
        const reservation = await this.#reserve(bytes, request);
        this.#isAsked(request);
        const isMost = bytes === mostOfOwner;
        const isRead = await this.#read(request, new RecordingRoom(reservation), isMost);
        if (isRead || isMost) {
          request.settle(isRead);
          return;
        }
      }
    } catch (thrown) {
      this.#isAsked(request);
      request.fail(thrown);
    }
  }

  /** Nobody may join it any more. */
  #isAsked(request: RecordingRequest): void {
    const waiting = this.#waiting.get(request.owner);
    waiting?.delete(request);
    if (waiting?.size === 0) this.#waiting.delete(request.owner);
  }

  /** Drops unused recordings to make room. */
  async #reserve(bytes: number, { owner, abandoned }: RecordingRequest): Promise<Reservation> {
    abandoned.throwIfAborted();
    for (;;) {
      const reservation = this.#room.tryReserve(bytes, owner);
      if (reservation !== undefined) return reservation;
      const [unused] = this.#unused;
      if (unused === undefined) return this.#room.reserve(bytes, owner, abandoned);
      this.#drop(unused);
    }
  }

  /**
   * @param isMost there can't be more room: of the last messages, those that fit are recorded
   * @returns false if there was no room for all
   */
  async #read(request: RecordingRequest, room: RecordingRoom, isMost: boolean): Promise<boolean> {
    const { topic, last } = request;
    const isFirst = room.bytes === FIRST_BYTES;
    // Leaves out channels that another request asks for: their messages are there soon, or are asked for again.
    const channels = new Map([...request.lacking].filter(([, channel]) => !this.#asked.has(channel)));
    if (channels.size === 0) {
      room.settle();
      return true;
    }
    const since = request.since(isFirst);
    let answered!: () => void;
    const answer = new Promise<void>((resolve) => (answered = resolve));
    for (const channel of channels.values()) {
      this.#asked.set(channel, answer);
      if (channel.recording?.isBroken !== false) channel.recording = new Recording(room);
    }
    this.use(channels.values());
    try {
      const bounds = { maxBytes: room.bytes, ...(last !== undefined && { last }) };
      const ask: Bus['readHistory'] = (...asked) =>
        isFirst && !isMost ? this.#batched.read(...asked) : this.#services.readHistory(...asked);
      const read = await ask(topic, [...channels.keys()], since, bounds);
      if (!read.isCut || (isMost && last !== undefined)) await this.#complete(channels, read, since, room);
      return !read.isCut;
    } finally {
      for (const channel of channels.values()) {
        this.#asked.delete(channel);
        if (channel.recording?.isRead === false) channel.recording.forget();
      }
      room.settle();
      void this.#passOn(channels.values(), answered);
    }
  }

  /** Requests that have waited use the channels first, in the order in which they came. */
  async #passOn(channels: Iterable<RecordedChannel>, answered: () => void): Promise<void> {
    await setImmediate();
    answered();
    this.release(channels);
  }

  async #complete(
    channels: ReadonlyMap<string, RecordedChannel>,
    { position, size, channels: kept }: HistoryRead,
    since: number,
    room: RecordingRoom,
  ): Promise<void> {
    const decoded = new Map<string, readonly RecordedMessage[]>();
    for (const { channel, messages } of kept) decoded.set(channel, await this.#decode(messages));
    await new Promise<void>((resolve) => this.#services.afterWaiting(resolve));
    for (const { channel, from, isAll } of kept) {
      const record = { position, size, from: Math.max(from, since), isAll: isAll && from >= since };
      const messages = decoded.get(channel) ?? [];
      const recorded = channels.get(channel);
      recorded?.recording?.complete({ ...record, messages }, room);
      // A publisher that did not hear that these arrived may send them again.
      for (const { sequence, message } of messages)
        if (sequence <= position.sequence) recorded?.offsets.note(message);
    }
  }

  /** One cursor may make the pod decode many thousands: each turn decodes a part, so that others are served too. */
  async #decode(payloads: readonly (Buffer | string)[]): Promise<readonly RecordedMessage[]> {
    const recorded: RecordedMessage[] = [];
    for (const payload of payloads) {
      if (this.#decodedBytes >= BYTES_PER_TURN) {
        await setImmediate();
        this.#decodedBytes = 0;
      }
      this.#decodedBytes += payload.length;
      const message = this.#services.decode(payload);
      const sequence = message?.h?.[1];
      if (message && sequence !== undefined) recorded.push({ sequence, message, bytes: payload.length });
    }
    return recorded;
  }
}
