import type { HistorySettings } from '../events/history-settings.ts';
import {
  bytesOf,
  newEpoch,
  positionOf,
  SLACK,
  withPosition,
  type HistoryBounds,
  type HistoryPosition,
  type HistoryRead,
  type KeptMessages,
} from './history.ts';

interface KeptChannel {
  from: number;
  messages: string[];
}

interface EndingChannel extends KeptChannel {
  /** ms. */
  readonly endsAt: number;
}

/** What one process keeps of the channels of one topic. It begins anew with the process. */
export class MemoryHistory {
  #settings: HistorySettings;
  readonly #now: () => number;
  readonly #epoch = newEpoch();
  /** Those that have listeners. */
  readonly #heard = new Map<string, KeptChannel>();
  /** The others, in the order in which their times end. */
  readonly #ending = new Map<string, EndingChannel>();
  #sequence = 0;
  #lastPayload: string | undefined;

  /** @param now ms */
  constructor(settings: HistorySettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** So much is kept from now on. */
  change(settings: HistorySettings): void {
    this.#settings = settings;
  }

  get position(): HistoryPosition {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  keeps(channel: string): boolean {
    return this.#settings.keepsAll || this.#kept(channel) !== undefined;
  }

  /** Something comes for a channel that is not kept: one that is kept later is complete from behind this only. */
  passOver(): void {
    this.#sequence += 1;
    this.#lastPayload = undefined;
  }

  joined(channel: string): void {
    if (this.#heard.has(channel)) return;
    this.#heard.set(channel, this.#kept(channel) ?? { from: this.#sequence, messages: [] });
    this.#ending.delete(channel);
  }

  left(channel: string): void {
    const kept = this.#heard.get(channel);
    if (kept === undefined) return;
    this.#heard.delete(channel);
    this.#end(channel, kept);
  }

  /**
   * Publications of one event follow each other, and have the same payload.
   *
   * @returns the message with its position
   */
  append(channel: string, payload: string): string {
    if (payload !== this.#lastPayload) this.#sequence += 1;
    this.#lastPayload = payload;
    const message = withPosition(this.position, payload);
    const kept = this.#keptFor(channel);
    if (kept !== undefined) {
      kept.messages.push(message);
      if (kept.messages.length > this.#settings.size * SLACK) this.#cut(kept);
    }
    return message;
  }

  /** @param since sequence of the last message that is not needed */
  read(
    channels: readonly string[],
    since: number,
    { last = Infinity, maxBytes }: HistoryBounds,
  ): HistoryRead {
    let room = maxBytes;
    let isCut = false;
    const kept = channels.map((channel): KeptMessages => {
      const { from, messages } = this.#kept(channel) ?? { from: this.#sequence, messages: [] };
      let first = messages.length;
      while (first > 0 && messages.length - first < last && !isCut) {
        const next = messages[first - 1] ?? '';
        if (sequenceOf(next) <= since) break;
        isCut = bytesOf(next) > room;
        if (!isCut) room -= bytesOf(next);
        if (!isCut) first -= 1;
      }
      const before = messages[first - 1];
      const isAll = before === undefined || sequenceOf(before) <= since;
      const start = isAll ? from : sequenceOf(before);
      return { channel, from: start, isAll, messages: messages.slice(first) };
    });
    return { position: this.position, size: this.#settings.size, isCut, channels: kept };
  }

  /** @returns where the next message is kept; undefined if it is not */
  #keptFor(channel: string): KeptChannel | undefined {
    const kept = this.#kept(channel);
    if (!this.#settings.keepsAll || this.#heard.has(channel)) return kept;
    return this.#end(channel, kept ?? { from: this.#sequence - 1, messages: [] });
  }

  /** From now on the channel is kept for as long as it is without a listener. */
  #end(channel: string, { from, messages }: KeptChannel): KeptChannel {
    const ending = { from, messages, endsAt: this.#now() + this.#settings.ttlMs };
    this.#ending.delete(channel);
    this.#ending.set(channel, ending);
    for (const [name, { endsAt }] of this.#ending) {
      if (endsAt > this.#now()) break;
      this.#ending.delete(name);
    }
    return ending;
  }

  #cut(kept: KeptChannel): void {
    kept.messages = kept.messages.slice(-this.#settings.size);
    kept.from = (positionOf(kept.messages[0] ?? '')?.sequence ?? this.#sequence) - 1;
  }

  #kept(channel: string): KeptChannel | undefined {
    const heard = this.#heard.get(channel);
    if (heard !== undefined) return heard;
    const ending = this.#ending.get(channel);
    return ending !== undefined && ending.endsAt > this.#now() ? ending : undefined;
  }
}

const sequenceOf = (message: string): number => positionOf(message)?.sequence ?? 0;
