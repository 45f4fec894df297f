import type { Bus } from '../bus/bus.ts';
import { interestMs, type HistorySettings } from '../events/history-settings.ts';
import { ClientShares } from '../support/client-shares.ts';
import { ChannelGroups } from './channel-groups.ts';
import { ChannelOffsets } from './dedupe.ts';
import type { Group } from './group.ts';
import type { HubChannel } from './hub-channel.ts';
import { KeptChannels, type KeptLimits } from './kept-channels.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';

interface ChannelServices extends KeptLimits {
  readonly bus: Pick<Bus, 'subscribe'> & Partial<Pick<Bus, 'room'>>;
  /** Called with what a channel carries. */
  readonly carries: (channel: HubChannel, payload: Buffer | string) => void;
  /** What the bus keeps of the topic's channels; undefined: nothing. */
  readonly historyOf: (topic: string) => HistorySettings | undefined;
  /** ms, of a monotonic clock. */
  readonly now: () => number;
}

/** How many further channels the bus may be subscribed to, and how many further ones may be kept. */
interface Room {
  readonly channels: number;
  readonly kept: number;
}

/** What a plan needs that is not there yet. */
export interface Needed {
  /** Channels that are not subscribed to. */
  readonly channels: number;
  /** Channels whose messages are kept from now on. */
  readonly kept: readonly string[];
  /** How long they count once they are left: ms. */
  readonly countsFor: number;
}

/** The channels that groups of the hub listen to: each is subscribed to as long as it has a group. */
export class HubChannels {
  readonly #services: ChannelServices;
  readonly #byName = new Map<string, HubChannel>();
  readonly #kept: KeptChannels;
  readonly #shares = new ClientShares();

  constructor(services: ChannelServices) {
    this.#services = services;
    this.#kept = new KeptChannels(services, services.now);
  }

  get byName(): ReadonlyMap<string, HubChannel> {
    return this.#byName;
  }

  get room(): Room {
    return { channels: this.#services.bus.room ?? Infinity, kept: this.#kept.room };
  }

  /** The part of this room that a client may take. */
  roomOf(client: string | undefined): Room {
    const { channels, kept } = this.room;
    return { channels: this.#shares.roomOf(client, channels), kept: this.#kept.shares.roomOf(client, kept) };
  }

  neededFor({ topic, channels }: SubscriptionPlan): Needed {
    const keptMs = this.#keptMs(topic);
    const fresh = channels.filter((name) => !this.#byName.has(name));
    const kept = keptMs === 0 ? [] : fresh.filter((name) => !this.#kept.has(name));
    return { channels: fresh.length, kept, countsFor: this.#kept.countsFor(keptMs) };
  }

  of({ channels }: SubscriptionPlan): HubChannel[] {
    return channels.flatMap((name) => this.#byName.get(name) ?? []);
  }

  /** Resolves once all channels of the plan have been joined. */
  joined(plan: SubscriptionPlan): Promise<unknown> {
    return Promise.all(this.of(plan).map(({ subscription }) => subscription.ready));
  }

  add(group: Group): void {
    const { topic, channels } = group.plan;
    for (const name of channels) {
      const channel = this.#byName.get(name) ?? this.#listen(topic, name, group.client);
      channel.groups.add(group);
    }
  }

  delete(group: Group): void {
    for (const { name, groups, subscription, keptMs, client, offsets } of this.of(group.plan)) {
      if (!groups.delete(group) || groups.size > 0) continue;
      this.#byName.delete(name);
      subscription.leave();
      this.#shares.count(client, -1);
      offsets.events = 0;
      if (keptMs > 0) this.#kept.left(name, keptMs, client, offsets);
    }
  }

  /** Groups go on with other plans, on the same channels. */
  renewed(): void {
    for (const { groups } of this.#byName.values()) groups.renewed();
  }

  #listen(topic: string, name: string, client: string | undefined): HubChannel {
    const { bus, carries } = this.#services;
    const channel: HubChannel = {
      name,
      groups: new ChannelGroups<Group>(),
      offsets: this.#kept.offsetsOf(name) ?? new ChannelOffsets(),
      recording: undefined,
      keptMs: this.#keptMs(topic),
      client,
      subscription: bus.subscribe(topic, name, (payload) => carries(channel, payload)),
    };
    this.#byName.set(name, channel);
    this.#shares.count(client, 1);
    if (channel.keptMs > 0) this.#kept.subscribed(name, client);
    return channel;
  }

  /** How long the bus keeps channels that have been left, in ms; 0: it keeps none. */
  #keptMs(topic: string): number {
    const history = this.#services.historyOf(topic);
    return history === undefined ? 0 : interestMs(history);
  }
}
