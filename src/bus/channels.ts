import type { Gauge } from 'prom-client';
import type { Log } from '../log.ts';
import type { Listener, Subscription } from './bus.ts';

/** The part of a bus that subscribes to channels, and unsubscribes, one by one. */
export interface ChannelSource {
  /** Resolves when the bus has acknowledged the subscription; from then on `listener` is called with each message. */
  join(channel: string, listener: Listener): Promise<void>;
  /** Replaces the listener with which the channel was joined, or is being joined. */
  listenAgain?(channel: string, listener: Listener): Promise<void>;
  /** Called only for channels whose join has resolved. */
  leave(channel: string): void;
}

interface Channel {
  readonly listeners: Set<Listener>;
  readonly joined: Promise<void>;
  isJoined: boolean;
  /** Runs while the channel has no listeners. */
  lingering: NodeJS.Timeout | undefined;
}

/**
 * The channels that this pod is subscribed to: it joins each once, for any number of listeners.
 *
 *     first listener ──► join ──acknowledged──► joined ──last one left──► lingering ──time is up──► leave
 *                                                  ▲                          │
 *                                                  └─────── a new listener ───┘
 *
 * If the last listener leaves before the join is acknowledged, the leave waits for that: if it came earlier, the bus would
 * stay subscribed for ever. Lingering saves a leave and a join when a user reloads a page. At the maximum number of
 * channels, a new one takes the place of the one that has lingered longest.
 */
export class Channels {
  readonly #source: ChannelSource;
  readonly #lingerMs: number;
  readonly #size: Gauge;
  readonly #log: Log;
  readonly #max: number;
  readonly #channels = new Map<string, Channel>();
  /** Channels without listeners. The one that has lingered longest comes first. */
  readonly #lingering = new Map<string, Channel>();

  /** @param max how many there may be, lingering ones included; see `room` */
  constructor(source: ChannelSource, lingerMs: number, size: Gauge, log: Log, max = Infinity) {
    this.#source = source;
    this.#lingerMs = lingerMs;
    this.#size = size;
    this.#log = log;
    this.#max = max;
  }

  /** How many further channels may get listeners. Those that linger take no room; those still being joined do. */
  get room(): number {
    return this.#max - (this.#channels.size - this.#lingering.size);
  }

  subscribe(name: string, listener: Listener): Subscription {
    const channel = this.#channels.get(name) ?? this.#join(name);
    clearTimeout(channel.lingering);
    this.#lingering.delete(name);
    // A function of its own for each subscription, so that the same listener can subscribe twice.
    const own: Listener = (payload) => listener(payload);
    channel.listeners.add(own);
    return { ready: channel.joined, leave: () => this.#leave(name, channel, own) };
  }

  /** Makes the bus listen to some channels again, in another way than it joined them. */
  listenAgain(isMeant: (channel: string) => boolean): void {
    for (const name of this.#channels.keys()) {
      if (!isMeant(name)) continue;
      // Looks the channel up by name: it may have been left and joined again by the time that the bus listens.
      const listener: Listener = (payload) =>
        this.#dispatch(name, this.#channels.get(name)?.listeners ?? new Set(), payload);
      this.#source.listenAgain?.(name, listener).catch((error: unknown) => {
        this.#log.error({ err: error, channel: name }, 'a channel could not be joined again');
      });
    }
  }

  /** Removes all listeners without unsubscribing from the bus, which is being stopped. */
  clear(): void {
    for (const channel of this.#channels.values()) {
      clearTimeout(channel.lingering);
      channel.listeners.clear();
    }
    this.#channels.clear();
    this.#lingering.clear();
    this.#size.set(0);
  }

  #join(name: string): Channel {
    if (this.#channels.size >= this.#max) this.#leaveOldest();
    const listeners = new Set<Listener>();
    const joined = this.#source.join(name, (payload) => this.#dispatch(name, listeners, payload));
    const channel: Channel = { listeners, joined, isJoined: false, lingering: undefined };
    this.#channels.set(name, channel);
    this.#size.set(this.#channels.size);
    joined.then(
      () => (channel.isJoined = true),
      () => this.#forget(name, channel),
    );
    return channel;
  }

  #dispatch(name: string, listeners: ReadonlySet<Listener>, payload: Buffer | string): void {
    for (const listener of listeners) {
      try {
        listener(payload);
      } catch (error) {
        this.#log.error({ err: error, channel: name }, 'a listener failed on a message');
      }
    }
  }

  #leave(name: string, channel: Channel, listener: Listener): void {
    if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
    // Lingers at once, to make room for the channel that the same client subscribes to next.
    if (channel.isJoined) {
      this.#linger(name, channel);
      return;
    }
    void channel.joined.then(
      () => this.#linger(name, channel),
      () => undefined, // Joining failed, and `#join` has removed the channel.
    );
  }

  #linger(name: string, channel: Channel): void {
    if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return;
    clearTimeout(channel.lingering);
    this.#lingering.set(name, channel);
    channel.lingering = setTimeout(() => this.#leaveSource(name, channel), this.#lingerMs).unref();
  }

  #leaveOldest(): void {
    for (const [name, channel] of this.#lingering) {
      clearTimeout(channel.lingering);
      this.#leaveSource(name, channel);
      return;
    }
  }

  #leaveSource(name: string, channel: Channel): void {
    this.#forget(name, channel);
    this.#source.leave(name);
  }

  #forget(name: string, channel: Channel): void {
    if (this.#channels.get(name) !== channel) return;
    this.#channels.delete(name);
    this.#lingering.delete(name);
    this.#size.set(this.#channels.size);
  }
}
