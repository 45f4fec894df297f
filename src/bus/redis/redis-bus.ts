import type { Deletions } from '../../events/deletion.ts';
import type { HistorySettings } from '../../events/history-settings.ts';
import type { Publication } from '../../events/publisher.ts';
import type { Metrics } from '../../metrics.ts';
import type { Consumption } from '../../events/consumption.ts';
import type { Bus, GapListener, KnownAnnouncements, Listener, Subscription } from '../bus.ts';
import { Channels, type ChannelSource } from '../channels.ts';
import type { HistoryBounds, HistoryPosition, HistoryRead } from '../history.ts';
import { BusNames } from './names.ts';
import type { RedisLinkOptions } from './redis-link-options.ts';
import { RedisLink } from './redis-link.ts';

export interface RedisBusOptions extends Omit<RedisLinkOptions, 'names' | 'metrics' | 'consumption'> {
  /** The prefix of all names of channels and keys. */
  readonly prefix: string;
  readonly lingerMs: number;
  /** Lingering ones included. Default: no limit. */
  readonly maxChannels?: number;
  readonly metrics: Metrics;
}

/** The bus between pods: Redis pub/sub, over one link. */
export class RedisBus implements Bus {
  readonly #link: RedisLink;
  readonly #channels: Channels;
  /** Topics of the channels that are joined or being joined. */
  readonly #topics = new Map<string, string>();
  #consumption: Consumption | undefined;

  constructor({ prefix, lingerMs, maxChannels, ...options }: RedisBusOptions) {
    const { metrics, log } = options;
    this.#link = new RedisLink({
      ...options,
      names: new BusNames(prefix),
      consumption: () => this.#consumption,
    });
    this.#channels = new Channels(this.#source(), lingerMs, metrics.channels, log, maxChannels);
  }

  start(): void {
    this.#link.start();
  }

  async stop(): Promise<void> {
    this.#channels.clear();
    this.#link.stop();
  }

  notReady(): string | undefined {
    return this.#link.notReady();
  }

  subscribe(topic: string, channel: string, listener: Listener): Subscription {
    this.#topics.set(channel, topic);
    return this.#channels.subscribe(channel, listener);
  }

  get room(): number {
    return this.#channels.room;
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#link.position(topic);
  }

  readHistory(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    return this.#link.readHistory(topic, channels, since, bounds);
  }

  deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions> {
    return this.#link.deletions(topic, epoch, keys);
  }

  keep(histories: ReadonlyMap<string, HistorySettings>): void {
    const topics = this.#link.keep(histories);
    if (topics.size > 0) this.#channels.listenAgain((channel) => topics.has(this.#topicOf(channel)));
  }

  onGap(listener: GapListener): void {
    this.#link.onGap(listener);
  }

  readMissedFrom(consumption: Consumption): void {
    this.#consumption = consumption;
  }

  onDeaf(listener: (isDeaf: boolean) => void): void {
    this.#link.onDeaf(listener);
  }

  announce(text: string, keepMs: number): Promise<void> {
    return this.#link.announce(text, keepMs);
  }

  onAnnouncement(listener: (text: string) => void, known?: KnownAnnouncements): void {
    this.#link.onAnnouncement(listener, known);
  }

  get announcementsAreHeard(): boolean {
    return this.#link.announcementsAreHeard;
  }

  id(proposed?: string): Promise<string | undefined> {
    return this.#link.id(proposed);
  }

  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#link.subscribed(topic, channels);
  }

  publish(topic: string, batch: readonly Publication[]): Promise<void> {
    return this.#link.publish(topic, batch);
  }

  #source(): ChannelSource {
    return {
      join: (channel, listener) =>
        this.#link.join(this.#topicOf(channel), channel, listener).catch((thrown: unknown) => {
          this.#topics.delete(channel);
          throw thrown;
        }),
      listenAgain: (channel, listener) => this.#link.listenAgain(this.#topicOf(channel), channel, listener),
      leave: (channel) => {
        this.#link.leave(this.#topicOf(channel), channel);
        this.#topics.delete(channel);
      },
    };
  }

  #topicOf(channel: string): string {
    return this.#topics.get(channel) ?? '';
  }
}
