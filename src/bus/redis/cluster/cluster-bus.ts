import type { HistorySettings } from '../../../events/history-settings.ts';
import { PublishError, type Publication } from '../../../events/publisher.ts';
import type { Metrics } from '../../../metrics.ts';
import { systemClock, type Clock } from '../../../support/clock.ts';
import type { Bus, GapListener, Listener, Subscription } from '../../bus.ts';
import { Channels, type ChannelSource } from '../../channels.ts';
import type { HistoryPosition, HistoryRead } from '../../history.ts';
import type { RedisAccess } from '../access.ts';
import { BusNames } from '../names.ts';
import { RedisLink, type RedisLinkOptions } from '../redis-link.ts';
import { Cluster } from './cluster.ts';
import { LinkTotals } from './link-totals.ts';
import { slotOf } from './slot.ts';
import { SlotCommands } from './slot-commands.ts';
import { SlotListening } from './slot-listening.ts';

export interface ClusterBusOptions extends Omit<
  RedisLinkOptions,
  'commands' | 'listening' | 'names' | 'metrics' | 'countsReceivers'
> {
  readonly access: Extract<RedisAccess, { nodes: unknown }>;
  /** Of all names of channels and keys: without braces. */
  readonly prefix: string;
  readonly lingerMs: number;
  /** Lingering ones included. Default: no limit. */
  readonly maxChannels?: number;
  readonly metrics: Metrics;
}

/** The word of the slot of announcements; Kafka's topic names have no `@`. */
const ANNOUNCEMENTS = '@revocations';

/** A topic's first chunk waits for its link for so long, then it is tried again as any other. */
const FIRST_LINK_MS = 5_000;
const LOOK_MS = 20;

interface Wire {
  readonly topic: string;
  readonly channel: string;
}

/**
 * The bus between pods over a Redis Cluster. All that belongs to a topic is in one slot, so that one node has its channels,
 * its version and its history, and runs its transactions and scripts. Each topic has a link to that node; links to one node
 * share the two connections to it. When the slot moves, or its master is replaced, a link loses its node and gets another,
 * as a single Redis does in a failover.
 */
export class ClusterBus implements Bus {
  readonly #options: ClusterBusOptions;
  readonly #clock: Clock;
  readonly #cluster: Cluster;
  readonly #totals: LinkTotals;
  readonly #channels: Channels;
  readonly #announcements: RedisLink;
  /** By topic. */
  readonly #links = new Map<string, RedisLink>();
  #histories: ReadonlyMap<string, HistorySettings>;
  /** Of channels that are joined or being joined, by their names on this pod. */
  readonly #wires = new Map<string, Wire>();
  #onGap: GapListener = () => undefined;
  #isStarted = false;
  #isPaused = false;
  readonly #stopping = new AbortController();

  constructor(options: ClusterBusOptions) {
    const { access, lingerMs, maxChannels, histories = new Map(), metrics, log } = options;
    const { clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#histories = histories;
    this.#cluster = new Cluster({ access, log, clock });
    this.#totals = new LinkTotals(metrics);
    this.#channels = new Channels(this.#source(), lingerMs, metrics.channels, log, maxChannels);
    this.#announcements = this.#createLink(ANNOUNCEMENTS, new Map());
  }

  start(): void {
    this.#isStarted = true;
    this.#cluster.start();
    this.#announcements.start();
    for (const link of this.#links.values()) link.start();
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
    this.#wires.set(channel, { topic, channel: this.#onWire(topic, channel) });
    return this.#channels.subscribe(channel, listener);
  }

  get room(): number {
    return this.#channels.room;
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#links.get(topic)?.position(topic);
  }

  async readHistory(topic: string, channels: readonly string[], since: number): Promise<HistoryRead> {
    const wires = channels.map((channel) => this.#onWire(topic, channel));
    const read = await this.#link(topic).readHistory(topic, wires, since);
    const named = read.channels.map((kept, index) => ({ ...kept, channel: channels[index] ?? '' }));
    return { ...read, channels: named };
  }

  keep(histories: ReadonlyMap<string, HistorySettings>): void {
    this.#histories = histories;
    const changed = new Set<string>();
    for (const [topic, link] of this.#links) {
      if (link.keep(this.#historyOf(topic)).size > 0) changed.add(topic);
    }
    if (changed.size > 0) this.#channels.listenAgain((channel) => changed.has(this.#wire(channel).topic));
  }

  onGap(listener: GapListener): void {
    this.#onGap = listener;
  }

  announce(text: string, keepMs: number): Promise<void> {
    return this.#announcements.announce(text, keepMs);
  }

  onAnnouncement(listener: (text: string) => void): void {
    this.#announcements.onAnnouncement(listener);
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
    const wires = channels.map((channel) => this.#onWire(topic, channel));
    const subscribed = await (await this.#reached(topic)).subscribed(topic, wires);
    return new Set(channels.filter((_, index) => subscribed.has(wires[index] ?? '')));
  }

  async publish(topic: string, batch: readonly Publication[]): Promise<void> {
    const onWire = batch.map((one) => ({ ...one, channel: this.#onWire(topic, one.channel) }));
    const link = await this.#reached(topic);
    try {
      await link.publish(topic, onWire);
    } catch (thrown) {
      if (!(thrown instanceof PublishError)) throw thrown;
      const failed = new Set(thrown.failed);
      throw new PublishError(
        batch.filter((_, index) => failed.has(onWire[index] as Publication)),
        batch.length,
        thrown.cause,
      );
    }
  }

  #source(): ChannelSource {
    return {
      join: async (channel, listener) => {
        const wire = this.#wire(channel);
        try {
          await this.#link(wire.topic).join(wire.topic, wire.channel, listener);
        } catch (thrown) {
          this.#wires.delete(channel);
          throw thrown;
        }
      },
      listenAgain: (channel, listener) => {
        const wire = this.#wire(channel);
        return this.#link(wire.topic).listenAgain(wire.topic, wire.channel, listener);
      },
      leave: (channel) => {
        const wire = this.#wire(channel);
        this.#link(wire.topic).leave(wire.topic, wire.channel);
        this.#wires.delete(channel);
      },
    };
  }

  #wire(channel: string): Wire {
    return this.#wires.get(channel) ?? { topic: '', channel };
  }

  /** The topic in braces, which make its slot that of the channel: `<prefix>{<topic>}…`. */
  #onWire(topic: string, channel: string): string {
    const { prefix } = this.#options;
    const rest = channel.startsWith(prefix + topic)
      ? channel.slice(prefix.length + topic.length)
      : `:${channel}`;
    return `${prefix}{${topic}}${rest}`;
  }

  #everyLink(): readonly RedisLink[] {
    return [this.#announcements, ...this.#links.values()];
  }

  #historyOf(topic: string): ReadonlyMap<string, HistorySettings> {
    const settings = this.#histories.get(topic);
    return new Map(settings === undefined ? [] : [[topic, settings]]);
  }

  #link(topic: string): RedisLink {
    const known = this.#links.get(topic);
    if (known !== undefined) return known;
    const link = this.#createLink(topic, this.#historyOf(topic));
    this.#links.set(topic, link);
    link.onGap((missed) => this.#onGap(missed));
    if (this.#isStarted) link.start();
    if (this.#isPaused) link.pause();
    return link;
  }

  /** The topic's link, which is given some time to connect if it is new. */
  async #reached(topic: string): Promise<RedisLink> {
    const link = this.#link(topic);
    const began = this.#clock.now();
    while (link.notReady() !== undefined && this.#clock.now() - began < FIRST_LINK_MS) {
      if (this.#stopping.signal.aborted) break;
      await this.#clock.sleep(LOOK_MS, this.#stopping.signal);
    }
    return link;
  }

  #createLink(word: string, histories: ReadonlyMap<string, HistorySettings>): RedisLink {
    const { prefix, log } = this.#options;
    const slot = slotOf(word);
    return new RedisLink({
      ...this.#options,
      // A slot that has gone and come back has lost its listeners, while others keep the connection busy.
      countsReceivers: true,
      histories,
      names: new BusNames(prefix, word),
      commands: new SlotCommands(this.#cluster, slot),
      listening: new SlotListening({ cluster: this.#cluster, slot, clock: this.#clock, log }),
      metrics: this.#totals.ofLink(),
      log: log.child({ link: word }),
    });
  }
}
