import type { Deletions } from '../events/deletion.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import { setImmediate } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Publication } from '../events/publisher.ts';
import type { Bus, Listener, Subscription } from './bus.ts';
import { Channels } from './channels.ts';
import { NoHistory, type HistoryBounds, type HistoryPosition, type HistoryRead } from './history.ts';
import { MemoryHistory } from './memory-history.ts';

interface MemoryBusOptions {
  readonly lingerMs: number;
  /** Lingering ones included. Default: no limit. */
  readonly maxChannels?: number;
  /** How much is kept of each topic that has a history. */
  readonly histories?: ReadonlyMap<string, HistorySettings>;
  /** ms since 1970 */
  readonly now?: () => number;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Messages dispatched in one turn of the event loop. */
const PUBLISHED_AT_ONCE = 32;

/** A bus within one process, for modes without Redis: each process has all events that its subscribers need. */
export class MemoryBus implements Bus {
  readonly announcementsAreHeard = true;
  readonly #listeners = new Map<string, Listener>();
  readonly #histories = new Map<string, MemoryHistory>();
  /** The topic of each channel that has listeners. */
  readonly #topics = new Map<string, string>();
  readonly #channels: Channels;
  readonly #now: () => number;
  readonly #metrics: Metrics;
  #hear: ((text: string) => void) | undefined;
  #pause: { readonly ended: Promise<void>; readonly end: () => void } | undefined;

  constructor({ lingerMs, maxChannels, histories, now = Date.now, metrics, log }: MemoryBusOptions) {
    this.#now = now;
    this.#metrics = metrics;
    const source = {
      join: async (channel: string, listener: Listener) => {
        this.#listeners.set(channel, listener);
        this.#historyOf(channel)?.joined(channel);
      },
      leave: (channel: string) => {
        this.#listeners.delete(channel);
        this.#historyOf(channel)?.left(channel);
        this.#topics.delete(channel);
      },
    };
    this.#channels = new Channels(source, lingerMs, metrics.channels, log, maxChannels);
    if (histories !== undefined) this.keep(histories);
  }

  start(): void {
    // There is nothing to connect to.
  }

  async stop(): Promise<void> {
    this.#channels.clear();
    this.#listeners.clear();
    this.resume();
  }

  notReady(): undefined {
    return undefined;
  }

  subscribe(topic: string, channel: string, listener: Listener): Subscription {
    this.#topics.set(channel, topic);
    return this.#channels.subscribe(channel, listener);
  }

  get room(): number {
    return this.#channels.room;
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#histories.get(topic)?.position;
  }

  async readHistory(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    const history = this.#histories.get(topic);
    if (history === undefined) throw new NoHistory(topic, 'the topic has none');
    return history.read(channels, since, bounds);
  }

  async deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions> {
    const deletions = this.#histories.get(topic)?.deletions(epoch, keys);
    if (deletions === undefined) throw new NoHistory(topic, 'it has none of this epoch');
    return deletions;
  }

  keep(histories: ReadonlyMap<string, HistorySettings>): void {
    for (const topic of this.#histories.keys()) if (!histories.has(topic)) this.#histories.delete(topic);
    for (const [topic, settings] of histories) {
      const known = this.#histories.get(topic);
      known?.change(settings);
      if (known === undefined) this.#histories.set(topic, this.#begin(topic, settings));
    }
  }

  onGap(): void {
    // Within a process nothing is missed.
  }

  readMissedFrom(): void {
    // Nothing is missed, so there is nothing to read again.
  }

  async announce(text: string): Promise<void> {
    this.#hear?.(text);
  }

  onDeaf(): void {
    // Nothing is between publishers and listeners.
  }

  onAnnouncement(listener: (text: string) => void): void {
    this.#hear = listener;
  }

  async id(): Promise<undefined> {
    return undefined;
  }

  pause(): void {
    if (this.#pause !== undefined) return;
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#pause = { ended, end };
  }

  resume(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }

  async subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    const history = this.#histories.get(topic);
    const wanted = channels.filter(
      (channel) => this.#listeners.has(channel) || history?.keeps(channel) === true,
    );
    if (wanted.length < channels.length) history?.passOver();
    return new Set(wanted);
  }

  /**
   * Resolves when all listeners have been called. A long batch yields to the event loop, so that sockets make
   * progress.
   */
  async publish(topic: string, batch: readonly Publication[]): Promise<void> {
    const history = this.#histories.get(topic);
    let published = 0;
    for (const [index, { channel, payload, source, deletes }] of batch.entries()) {
      // Never yields between two messages of one event: they have the same position in the history.
      if (payload !== batch[index - 1]?.payload) {
        if (published >= PUBLISHED_AT_ONCE) {
          published = 0;
          await setImmediate();
        }
        while (this.#pause !== undefined) await this.#pause.ended;
      }
      if (deletes !== undefined) {
        history?.delete(deletes, source);
        continue;
      }
      published += 1;
      // Also without a listener: the channel may be kept.
      const message = history?.append(channel, payload) ?? payload;
      this.#listeners.get(channel)?.(message);
    }
    this.#metrics.publishes.inc(batch.length);
  }

  #begin(topic: string, settings: HistorySettings): MemoryHistory {
    const history = new MemoryHistory(settings, this.#now);
    for (const channel of this.#listeners.keys())
      if (this.#topics.get(channel) === topic) history.joined(channel);
    return history;
  }

  #historyOf(channel: string): MemoryHistory | undefined {
    return this.#histories.get(this.#topics.get(channel) ?? '');
  }
}
