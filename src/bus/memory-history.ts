import { DELETED_OF_GENERATION, hashOfKey, type Deletions } from '../events/deletion.ts';
import { interestMs, type HistorySettings } from '../events/history-settings.ts';
import { isAfter } from '../events/log-position.ts';
import type { Publication } from '../events/publisher.ts';
import { Sweeper } from '../support/sweeper.ts';
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

/** How often expired channels are forgotten while no listener leaves one. */
const SWEEP_MS = 10_000;

interface KeptChannel {
  from: number;
  messages: string[];
}

interface Deletion {
  readonly sequence: number;
  readonly source: Publication['source'];
}

interface EndingChannel extends KeptChannel {
  /** ms. */
  readonly endsAt: number;
}

/** The history of one topic within one process. It starts empty with the process. */
export class MemoryHistory {
  #settings: HistorySettings;
  readonly #now: () => number;
  readonly #epoch = newEpoch();
  /** The channels that have listeners. */
  readonly #heard = new Map<string, KeptChannel>();
  /** Channels without listeners, in the order in which they expire: those with messages, and those without. */
  readonly #ending = new Map<string, EndingChannel>();
  readonly #endingEmpty = new Map<string, EndingChannel>();
  readonly #sweeper = new Sweeper(SWEEP_MS, () => {
    this.#forgetOld();
    return this.#ending.size + this.#endingEmpty.size > 0;
  });
  /** By hash of the key, in order of deletion. */
  readonly #deleted = new Map<string, Deletion>();
  #forgottenUpTo = 0;
  #lastDeletion = 0;
  #sequence = 0;
  #lastPayload: string | undefined;

  /** @param now ms */
  constructor(settings: HistorySettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Changes how much is kept from now on. */
  change(settings: HistorySettings): void {
    this.#settings = settings;
  }

  get position(): HistoryPosition {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  keeps(channel: string): boolean {
    return this.#settings.keepsAll || this.#kept(channel) !== undefined;
  }

  /** Notes a message for a channel that is not kept: if it is kept later, it is complete only after this message. */
  passOver(): void {
    this.#sequence += 1;
    this.#lastPayload = undefined;
  }

  joined(channel: string): void {
    if (this.#heard.has(channel)) return;
    this.#heard.set(channel, this.#kept(channel) ?? { from: this.#sequence, messages: [] });
    this.#ending.delete(channel);
    this.#endingEmpty.delete(channel);
  }

  left(channel: string): void {
    const kept = this.#heard.get(channel);
    if (kept === undefined) return;
    this.#heard.delete(channel);
    this.#end(channel, kept, kept.messages.length === 0);
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

  /** Notes that the key is deleted. A tombstone that is repeated, as after a rebalance, changes nothing. */
  delete(key: string, source: Publication['source']): void {
    const known = this.#deleted.get(key);
    if (known !== undefined && isRepeat(source, known.source)) return;
    this.passOver();
    this.#deleted.delete(key);
    this.#deleted.set(key, { sequence: this.#sequence, source });
    this.#lastDeletion = this.#sequence;
    if (this.#deleted.size <= 2 * DELETED_OF_GENERATION) return;
    const [[first, { sequence }]] = this.#deleted as unknown as [[string, Deletion]];
    this.#deleted.delete(first);
    this.#forgottenUpTo = sequence;
  }

  deletions(epoch: string, keys: readonly string[]): Deletions | undefined {
    if (epoch !== this.#epoch) return undefined;
    const upTo = new Map<string, number>();
    for (const key of keys) {
      const deletion = this.#deleted.get(hashOfKey(key));
      if (deletion !== undefined) upTo.set(key, deletion.sequence);
    }
    return { upTo, forgottenUpTo: this.#forgottenUpTo, last: this.#lastDeletion };
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
    return this.#end(channel, kept ?? { from: this.#sequence - 1, messages: [] }, false);
  }

  /** Begins the time for which the channel is kept without a listener. */
  #end(channel: string, { from, messages }: KeptChannel, isEmpty: boolean): KeptChannel {
    const keptMs = isEmpty ? interestMs(this.#settings) : this.#settings.ttlMs;
    const ending = { from, messages, endsAt: this.#now() + keptMs };
    this.#ending.delete(channel);
    this.#endingEmpty.delete(channel);
    (isEmpty ? this.#endingEmpty : this.#ending).set(channel, ending);
    this.#forgetOld();
    this.#sweeper.begin();
    return ending;
  }

  #forgetOld(): void {
    for (const channels of [this.#ending, this.#endingEmpty]) {
      for (const [name, { endsAt }] of channels) {
        if (endsAt > this.#now()) break;
        channels.delete(name);
      }
    }
  }

  #cut(kept: KeptChannel): void {
    kept.messages = kept.messages.slice(-this.#settings.size);
    kept.from = (positionOf(kept.messages[0] ?? '')?.sequence ?? this.#sequence) - 1;
  }

  #kept(channel: string): KeptChannel | undefined {
    const heard = this.#heard.get(channel);
    if (heard !== undefined) return heard;
    const ending = this.#ending.get(channel) ?? this.#endingEmpty.get(channel);
    return ending !== undefined && ending.endsAt > this.#now() ? ending : undefined;
  }
}

function isRepeat(source: Publication['source'], known: Publication['source']): boolean {
  if (source === undefined || known === undefined) return false;
  const isSame = source.topicId === known.topicId && source.partition === known.partition;
  return isSame && !isAfter(source, known);
}

const sequenceOf = (message: string): number => positionOf(message)?.sequence ?? 0;
