import { setMaxListeners } from 'node:events';
import type { Deletions } from '../../../events/deletion.ts';
import type { HistorySettings } from '../../../events/history-settings.ts';
import { PublishError, type Publication } from '../../../events/publisher.ts';
import type { Metrics } from '../../../metrics.ts';
import { systemClock, type Clock } from '../../../support/clock.ts';
import type { Consumption } from '../../../events/consumption.ts';
import type { Bus, GapListener, KnownAnnouncements, Listener, Subscription } from '../../bus.ts';
import { Channels, type ChannelSource } from '../../channels.ts';
import type { HistoryBounds, HistoryPosition, HistoryRead } from '../../history.ts';
import type { Address } from '../access.ts';
import type { ListenerPace } from '../listener-pace.ts';
import { BusNames } from '../names.ts';
import type { RedisLinkOptions } from '../redis-link-options.ts';
import { RedisLink } from '../redis-link.ts';
import { Cluster } from './cluster.ts';
import { LinkTotals } from './link-totals.ts';
import type { ConnectNode } from './node-connections.ts';
import { Places, type Place } from './places.ts';
import { slotOf } from './slot.ts';
import { SlotCommands } from './slot-commands.ts';
import { SlotListening } from './slot-listening.ts';

export interface ClusterBusOptions extends Omit<
  RedisLinkOptions,
  'commands' | 'listening' | 'names' | 'metrics' | 'countsReceivers' | 'paces' | 'consumption'
> {
  /** Some nodes of the cluster, which are asked for the others. */
  readonly nodes: readonly Address[];
  readonly connect: ConnectNode;
  /** Topics whose channels are spread over several slots. They have no history. */
  readonly spread?: ReadonlySet<string> | undefined;
  /** The prefix of all names of channels and keys. It has no braces. */
  readonly prefix: string;
  readonly lingerMs: number;
  /** Lingering ones included. Default: no limit. */
  readonly maxChannels?: number;
  readonly metrics: Metrics;
}

/** The word that gives the slot of announcements. Kafka's topic names have no `@`. */
const ANNOUNCEMENTS = '@revocations';

/** How long a topic's first chunk waits for its link. After that it is tried again like any other. */
const FIRST_LINK_MS = 5_000;
const LOOK_MS = 20;

interface TopicLink {
  readonly topic: string;
  readonly link: RedisLink;
}

/**
 * The bus between pods over a Redis Cluster. Everything of a topic is in one slot, so one node has its channels, version
 * and history, and runs its transactions and scripts. A topic that is spread has several such places, each with its own
 * channels and version. Each place has a link to its node; links to the same node share the two connections to it. When a
 * slot moves, or its master is replaced, the link loses its node and gets another one, as with a single Redis in a
 * failover.
 */
export class ClusterBus implements Bus {
  readonly #options: ClusterBusOptions;
  readonly #clock: Clock;
  readonly #cluster: Cluster;
  readonly #totals: LinkTotals;
  readonly #channels: Channels;
  readonly #announcements: RedisLink;
  readonly #places: Places;
  /** By the word of their slot. */
  readonly #links = new Map<string, TopicLink>();
  #histories: ReadonlyMap<string, HistorySettings>;
  /** The places of channels that are joined or being joined, by the channels' names on this pod. */
  readonly #joined = new Map<string, Place>();
  /** Spread topics with a gap to report, once, at the end of this turn: a lost node affects several places of a topic. */
  readonly #gaps = new Set<string>();
  #onGap: GapListener = () => undefined;
  #onDeaf: (isDeaf: boolean) => void = () => undefined;
  readonly #deafLinks = new Set<RedisLink>();
  readonly #paces = new Set<ListenerPace>();
  #consumption: Consumption | undefined;
  #isStarted = false;
  #isPaused = false;
  readonly #stopping = new AbortController();

  constructor(options: ClusterBusOptions) {
    const { nodes, connect, spread, lingerMs, maxChannels, histories = new Map(), metrics, log } = options;
    const { clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#histories = histories;
    this.#places = new Places(options.prefix, spread ?? new Set());
    this.#cluster = new Cluster({ nodes, connect, log, clock });
    // Publishers to all places of a topic may wait at once.
    setMaxListeners(0, this.#stopping.signal);
    this.#totals = new LinkTotals(metrics);
    this.#channels = new Channels(this.#source(), lingerMs, metrics.channels, log, maxChannels);
    this.#announcements = this.#createLink(ANNOUNCEMENTS, undefined, new Map());
  }

  start(): void {
    this.#isStarted = true;
    this.#cluster.start();
    this.#announcements.start();
    for (const { link } of this.#links.values()) link.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#channels.clear();
    for (const link of this.#everyLink()) link.stop();
    this.#cluster.stop();
  }

  notReady(): string | undefined {
    return this.#announcements.notReady();
  }

  subscribe(topic: string, channel: string, listener: Listener): Subscription {
    this.#joined.set(channel, this.#places.of(topic, channel));
    return this.#channels.subscribe(channel, listener);
  }

  get room(): number {
    return this.#channels.room;
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#links.get(topic)?.link.position(topic);
  }

  async readHistory(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    const kept = channels.map((channel) => this.#places.of(topic, channel).channel);
    const read = await this.#link(topic, topic).readHistory(topic, kept, since, bounds);
    const named = read.channels.map((one, index) => ({ ...one, channel: channels[index] ?? '' }));
    return { ...read, channels: named };
  }

  deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions> {
    return this.#link(topic, topic).deletions(topic, epoch, keys);
  }

  keep(histories: ReadonlyMap<string, HistorySettings>): void {
    this.#histories = histories;
    const changed = new Set<string>();
    for (const { topic, link } of this.#links.values()) {
      if (link.keep(this.#historyOf(topic)).size > 0) changed.add(topic);
    }
    if (changed.size > 0) this.#channels.listenAgain((channel) => changed.has(this.#placeOf(channel).topic));
  }

  onGap(listener: GapListener): void {
    this.#onGap = listener;
  }

  readMissedFrom(consumption: Consumption): void {
    this.#consumption = consumption;
  }

  onDeaf(listener: (isDeaf: boolean) => void): void {
    this.#onDeaf = listener;
  }

  announce(text: string, keepMs: number): Promise<void> {
    return this.#announcements.announce(text, keepMs);
  }

  onAnnouncement(listener: (text: string) => void, known?: KnownAnnouncements): void {
    this.#announcements.onAnnouncement(listener, known);
  }

  get announcementsAreHeard(): boolean {
    return this.#announcements.announcementsAreHeard;
  }

  id(proposed?: string): Promise<string | undefined> {
    return this.#announcements.id(proposed);
  }

  pause(): void {
    this.#isPaused = true;
    for (const link of this.#everyLink()) link.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const link of this.#everyLink()) link.resume();
  }

  async subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    const subscribed = await Promise.all(
      this.#places
        .parts(topic, channels, (channel) => channel)
        .map(async ({ word, all, names }) => {
          const some = await (await this.#reached(topic, word)).subscribed(topic, names);
          return all.filter((_, index) => some.has(names[index] ?? ''));
        }),
    );
    const some = new Set(subscribed.flat());
    return new Set(channels.filter((channel) => some.has(channel)));
  }

  async publish(topic: string, batch: readonly Publication[]): Promise<void> {
    const failed = new Set<Publication>();
    let cause: unknown;
    await Promise.all(
      this.#places
        .parts(topic, batch, ({ channel }) => channel)
        .map(async ({ word, all, names }) => {
          const named = all.map((one, index) => ({ ...one, channel: names[index] ?? '' }));
          try {
            await (await this.#reached(topic, word)).publish(topic, named);
          } catch (thrown) {
            cause = thrown instanceof PublishError ? thrown.cause : thrown;
            const refused = new Set(thrown instanceof PublishError ? thrown.failed : named);
            for (const [index, one] of all.entries()) {
              if (refused.has(named[index] as Publication)) failed.add(one);
            }
          }
        }),
    );
    if (failed.size === 0) return;
    const inOrder = batch.filter((one) => failed.has(one));
    throw new PublishError(inOrder, batch.length, cause);
  }

  #source(): ChannelSource {
    const linkOf = ({ topic, word }: Place): RedisLink => this.#link(topic, word);
    return {
      join: async (name, listener) => {
        const place = this.#placeOf(name);
        try {
          await linkOf(place).join(place.topic, place.channel, listener);
        } catch (thrown) {
          this.#joined.delete(name);
          throw thrown;
        }
      },
      listenAgain: (name, listener) => {
        const place = this.#placeOf(name);
        return linkOf(place).listenAgain(place.topic, place.channel, listener);
      },
      leave: (name) => {
        const place = this.#placeOf(name);
        linkOf(place).leave(place.topic, place.channel);
        this.#joined.delete(name);
      },
    };
  }

  #placeOf(channel: string): Place {
    return this.#joined.get(channel) ?? { topic: '', word: '', channel };
  }

  #tellGap(topic: string): void {
    if (!this.#places.isSpread(topic)) {
      this.#onGap(topic);
      return;
    }
    if (this.#gaps.size === 0) {
      setImmediate(() => {
        const topics = [...this.#gaps];
        this.#gaps.clear();
        for (const one of topics) this.#onGap(one);
      });
    }
    this.#gaps.add(topic);
  }

  #everyLink(): readonly RedisLink[] {
    return [this.#announcements, ...[...this.#links.values()].map(({ link }) => link)];
  }

  #historyOf(topic: string): ReadonlyMap<string, HistorySettings> {
    const settings = this.#histories.get(topic);
    return new Map(settings === undefined ? [] : [[topic, settings]]);
  }

  /** The consumption of one stream, with its channels named as in Redis. */
  #consumptionOf(stream: string | undefined): Consumption | undefined {
    const consumption = this.#consumption;
    if (consumption === undefined || stream === undefined) return undefined;
    const nameOf = (channel: string): string => this.#places.of(stream, channel).channel;
    return {
      topics: () => {
        const ofStream = new Set(consumption.topicsOf(stream));
        return consumption.topics().filter(({ topic }) => ofStream.has(topic));
      },
      topicsOf: (one) => consumption.topicsOf(one),
      isOf: (one, topic) => consumption.isOf(one, topic),
      read: (topic, ranges, { wants, passOn, ready }, signal) =>
        consumption.read(
          topic,
          ranges,
          {
            ready,
            wants: (channel) => wants(nameOf(channel)),
            passOn: (channel, payload) => passOn(nameOf(channel), payload),
          },
          signal,
        ),
    };
  }

  #link(topic: string, word: string): RedisLink {
    const known = this.#links.get(word);
    if (known !== undefined) return known.link;
    const link = this.#createLink(word, topic, this.#historyOf(topic));
    this.#links.set(word, { topic, link });
    link.onGap((missed) => this.#tellGap(missed));
    if (this.#isStarted) link.start();
    if (this.#isPaused) link.pause();
    return link;
  }

  /** Returns the link of one place of the topic. A new link gets some time to connect first. */
  async #reached(topic: string, word: string): Promise<RedisLink> {
    const link = this.#link(topic, word);
    const began = this.#clock.now();
    while (link.notReady() !== undefined && this.#clock.now() - began < FIRST_LINK_MS) {
      if (this.#stopping.signal.aborted) break;
      await this.#clock.sleep(LOOK_MS, this.#stopping.signal);
    }
    return link;
  }

  #createLink(
    word: string,
    topic: string | undefined,
    histories: ReadonlyMap<string, HistorySettings>,
  ): RedisLink {
    const { prefix, log } = this.#options;
    const slot = slotOf(word);
    const link = new RedisLink({
      ...this.#options,
      // A slot that moves away and back loses its listeners, while other slots keep the connection busy.
      countsReceivers: true,
      histories,
      paces: this.#paces,
      names: new BusNames(prefix, word),
      commands: new SlotCommands(this.#cluster, slot),
      listening: new SlotListening({ cluster: this.#cluster, slot, clock: this.#clock, log }),
      consumption: () => this.#consumptionOf(topic),
      metrics: this.#totals.ofLink(),
      log: log.child({ link: word }),
    });
    link.onDeaf((isDeaf) => {
      if (isDeaf) this.#deafLinks.add(link);
      else this.#deafLinks.delete(link);
      this.#onDeaf(this.#deafLinks.size > 0);
    });
    return link;
  }
}
