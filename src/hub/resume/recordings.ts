import { setImmediate } from 'node:timers/promises';
import type { Bus } from '../../bus/bus.ts';
import { NoHistory, type HistoryPosition } from '../../bus/history.ts';
import type { Message } from '../../events/message.ts';
import { Recording, type KeptRecord, type RecordedMessage } from './recording.ts';

/** A channel of the hub, which adds what it carries to the recording, if there is one. */
export interface RecordedChannel {
  readonly name: string;
  recording: Recording | undefined;
}

export interface RecordingServices {
  readonly readHistory: Bus['readHistory'];
  /** Calls back once all messages have been taken that the bus has passed on. */
  readonly afterWaiting: (callback: () => void) => void;
  /** As for what channels carry; undefined for a message of an unknown version. */
  readonly decode: (payload: Buffer | string) => Message | undefined;
}

/** Channels of one topic that the bus is about to be asked for. */
interface Request {
  readonly channels: Map<string, RecordedChannel>;
  since: number;
  readonly done: Promise<void>;
}

interface Use {
  users: number;
  /** Runs while there are none. */
  timer: NodeJS.Timeout | undefined;
}

/** A recording is kept so long after its last use, since clients that reconnect come one after the other: ms. */
const KEPT_MS = 5_000;

/** Beyond it those who want further channels recorded wait until others are released. */
const MAX_BYTES = 64 * 1024 * 1024;

/** So much further back than the first one asks for is read: those who come next may lack a little more. */
const SEQUENCES_BEFORE = 256;

/** Of what the bus has kept; decoded in one turn of the event loop. */
const BYTES_PER_TURN = 128 * 1024;

/** A channel that is interrupted so often while the bus is asked is not recorded. */
const MAX_ATTEMPTS = 5;

/** Records channels for subscribers that resume. Those who come in one turn of the event loop have the bus asked once. */
export class Recordings {
  readonly #services: RecordingServices;
  readonly #maxBytes: number;
  /** By topic. */
  readonly #requests = new Map<string, Request>();
  /** Channels that the bus is being asked for. */
  readonly #asked = new Map<RecordedChannel, Promise<void>>();
  readonly #uses = new Map<RecordedChannel, Use>();
  #bytes = 0;
  /** In this turn of the event loop. */
  #decodedBytes = 0;
  #untilReleased: (() => void)[] = [];

  constructor(services: RecordingServices, maxBytes = MAX_BYTES) {
    this.#services = services;
    this.#maxBytes = maxBytes;
  }

  /**
   * Resolves once the channels are recorded behind this position, or as far back as the bus has kept them. They are to be
   * released.
   *
   * @throws NoHistory
   */
  async open(topic: string, channels: readonly RecordedChannel[], at: HistoryPosition): Promise<void> {
    while (this.#bytes > this.#maxBytes && lacking(channels, at).length > 0 && this.#areInUse()) {
      await new Promise<void>((resolve) => this.#untilReleased.push(resolve));
    }
    this.use(channels);
    try {
      await this.#record(topic, channels, at);
    } catch (thrown) {
      this.release(channels);
      throw thrown;
    }
  }

  /** Keeps recordings until they are released, as often as they are used. */
  use(channels: readonly RecordedChannel[]): void {
    for (const channel of channels) {
      const use = this.#uses.get(channel) ?? { users: 0, timer: undefined };
      clearTimeout(use.timer);
      use.users += 1;
      this.#uses.set(channel, use);
    }
  }

  release(channels: readonly RecordedChannel[]): void {
    for (const channel of channels) {
      const use = this.#uses.get(channel);
      if (use === undefined) continue;
      use.users -= 1;
      if (use.users === 0) use.timer = setTimeout(() => this.#drop(channel), KEPT_MS).unref();
    }
    if (this.#bytes > this.#maxBytes) {
      for (const [channel, { users }] of this.#uses) if (users === 0) this.#drop(channel);
    }
    for (const resolve of this.#untilReleased.splice(0)) resolve();
  }

  async #record(topic: string, channels: readonly RecordedChannel[], at: HistoryPosition): Promise<void> {
    for (let attempt = 0; ;) {
      const asking = lacking(channels, at);
      if (asking.length === 0) return;
      const asked = asking.flatMap((channel) => this.#asked.get(channel) ?? []);
      if (asked.length === 0) attempt += 1;
      if (attempt > MAX_ATTEMPTS) throw new NoHistory(topic, 'it is interrupted again and again');
      await (asked.length > 0 ? Promise.all(asked) : this.#request(topic, asking, at));
    }
  }

  #areInUse(): boolean {
    for (const { users } of this.#uses.values()) if (users > 0) return true;
    return false;
  }

  #drop(channel: RecordedChannel): void {
    clearTimeout(this.#uses.get(channel)?.timer);
    this.#uses.delete(channel);
    channel.recording?.break();
    channel.recording = undefined;
  }

  #request(topic: string, channels: readonly RecordedChannel[], at: HistoryPosition): Promise<void> {
    let request = this.#requests.get(topic);
    if (request === undefined) {
      request = { channels: new Map(), since: at.sequence, done: this.#ask(topic) };
      this.#requests.set(topic, request);
    }
    for (const channel of channels) {
      const { recording } = channel;
      // Of one that lacks what was before, all is asked for: others may come that lack more.
      const lacksMore = recording?.isRead === true && recording.lacks(at);
      request.since = lacksMore ? 0 : Math.min(request.since, Math.max(0, at.sequence - SEQUENCES_BEFORE));
      if (recording?.isBroken !== false) channel.recording = new Recording((bytes) => (this.#bytes += bytes));
      request.channels.set(channel.name, channel);
    }
    return request.done;
  }

  async #ask(topic: string): Promise<void> {
    await setImmediate();
    const request = this.#requests.get(topic);
    this.#requests.delete(topic);
    if (request === undefined) return;
    for (const channel of request.channels.values()) this.#asked.set(channel, request.done);
    try {
      await this.#read(topic, request);
    } finally {
      for (const channel of request.channels.values()) this.#asked.delete(channel);
    }
  }

  async #read(topic: string, { channels, since }: Request): Promise<void> {
    const { readHistory } = this.#services;
    const { position, size, channels: kept } = await readHistory(topic, [...channels.keys()], since);
    const records = new Map<string, KeptRecord>();
    for (const { channel, from, messages } of kept) {
      const recorded = await this.#decode(messages);
      const isAll = from >= since;
      records.set(channel, { position, size, from: Math.max(from, since), isAll, messages: recorded });
    }
    await new Promise<void>((resolve) => this.#services.afterWaiting(resolve));
    for (const [name, record] of records) channels.get(name)?.recording?.complete(record);
  }

  /** A client may have many thousands decoded by one cursor: so many in a turn that others are served in between. */
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

function lacking(channels: readonly RecordedChannel[], at: HistoryPosition): readonly RecordedChannel[] {
  return channels.filter(({ recording }) => recording?.lacks(at) !== false);
}
