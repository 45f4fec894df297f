import type { HistorySettings } from '../events/history-settings.ts';
import {
  newEpoch,
  positionOf,
  withPosition,
  type HistoryPosition,
  type HistoryRead,
  type KeptMessages,
} from './history.ts';

interface KeptChannel {
  readonly from: number;
  readonly messages: string[];
  /** ms; infinite while there is a listener. */
  endsAt: number;
}

/** Beyond the size of a channel, in parts of it: then it is cut back, so that it is not cut at each message. */
const SLACK = 1.25;

/** What one process keeps of the channels of one topic. It begins anew with the process. */
export class MemoryHistory {
  #settings: HistorySettings;
  readonly #now: () => number;
  readonly #epoch = newEpoch();
  readonly #channels = new Map<string, KeptChannel>();
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

  joined(channel: string): void {
    const kept = this.#kept(channel) ?? { from: this.#sequence, messages: [], endsAt: Infinity };
    kept.endsAt = Infinity;
    this.#channels.set(channel, kept);
  }

  left(channel: string): void {
    const kept = this.#channels.get(channel);
    if (kept !== undefined) kept.endsAt = this.#now() + this.#settings.ttlMs;
    for (const name of this.#channels.keys()) this.#kept(name);
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
    if (this.#settings.keepsAll) this.#keep(channel);
    const kept = this.#kept(channel);
    if (kept !== undefined) {
      const { size } = this.#settings;
      kept.messages.push(message);
      if (kept.messages.length > size * SLACK) this.#cut(channel, kept);
    }
    return message;
  }

  read(channels: readonly string[]): HistoryRead {
    const kept = channels.map((channel): KeptMessages => {
      const { from, messages } = this.#kept(channel) ?? { from: this.#sequence, messages: [] };
      return { channel, from, messages: [...messages] };
    });
    return { position: this.position, channels: kept };
  }

  /** Channels without a listener are in the order in which their times end. */
  #keep(channel: string): void {
    const kept = this.#kept(channel) ?? { from: this.#sequence - 1, messages: [], endsAt: 0 };
    if (kept.endsAt !== Infinity) kept.endsAt = this.#now() + this.#settings.ttlMs;
    this.#channels.delete(channel);
    this.#channels.set(channel, kept);
    for (const [name, { endsAt }] of this.#channels) {
      if (endsAt > this.#now() && endsAt !== Infinity) return;
      if (endsAt !== Infinity) this.#channels.delete(name);
    }
  }

  #cut(channel: string, { messages, endsAt }: KeptChannel): void {
    const rest = messages.slice(-this.#settings.size);
    const from = (positionOf(rest[0] ?? '')?.sequence ?? this.#sequence) - 1;
    this.#channels.set(channel, { from, messages: rest, endsAt });
  }

  #kept(channel: string): KeptChannel | undefined {
    const kept = this.#channels.get(channel);
    if (kept === undefined || kept.endsAt > this.#now()) return kept;
    this.#channels.delete(channel);
    return undefined;
  }
}
