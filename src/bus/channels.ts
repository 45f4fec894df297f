import type { Gauge } from 'prom-client';
import type { Log } from '../log.ts';
import type { Listener, Subscription } from './bus.ts';

/** The side of a bus that joins and leaves channels, one by one. */
export interface ChannelSource {
  /** Resolves when the bus has acknowledged; from then on each message is handed to `listener`. */
  join(channel: string, listener: Listener): Promise<void>;
  /** Called only for channels whose join has resolved. */
  leave(channel: string): void;
}

interface Channel {
  readonly listeners: Set<Listener>;
  readonly joined: Promise<void>;
  /** Runs while nobody listens. */
  lingering: NodeJS.Timeout | undefined;
}

/**
 * The channels that this pod is on: one join each, however many listen.
 *
 *     first listener ──► join ──acknowledged──► joined ──last one left──► lingering ──time is up──► leave
 *                                                  ▲                          │
 *                                                  └─────── a new listener ───┘
 *
 * A last listener that leaves before the join is acknowledged waits for it: a bus told to leave earlier would stay
 * on the channel for ever. Lingering spares the bus a leave and a join when somebody reloads a page.
 */
export class Channels {
  readonly #source: ChannelSource;
  readonly #lingerMs: number;
  readonly #size: Gauge;
  readonly #log: Log;
  readonly #channels = new Map<string, Channel>();

  constructor(source: ChannelSource, lingerMs: number, size: Gauge, log: Log) {
    this.#source = source;
    this.#lingerMs = lingerMs;
    this.#size = size;
    this.#log = log;
  }

  subscribe(name: string, listener: Listener): Subscription {
    const channel = this.#channels.get(name) ?? this.#join(name);
    clearTimeout(channel.lingering);
    // Each subscription listens for itself, even if the same function is handed in twice.
    const heard: Listener = (payload) => listener(payload);
    channel.listeners.add(heard);
    return { ready: channel.joined, leave: () => this.#leave(name, channel, heard) };
  }

  /** Forgets everybody, without a word to the bus: it is being stopped. */
  clear(): void {
    for (const channel of this.#channels.values()) {
      clearTimeout(channel.lingering);
      channel.listeners.clear();
    }
    this.#channels.clear();
    this.#size.set(0);
  }

  #join(name: string): Channel {
    const listeners = new Set<Listener>();
    const joined = this.#source.join(name, (payload) => this.#hand(name, listeners, payload));
    const channel: Channel = { listeners, joined, lingering: undefined };
    this.#channels.set(name, channel);
    this.#size.set(this.#channels.size);
    joined.catch(() => this.#forget(name, channel));
    return channel;
  }

  #hand(name: string, listeners: ReadonlySet<Listener>, payload: Buffer | string): void {
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
    void channel.joined.then(
      () => this.#linger(name, channel),
      () => undefined, // It was never joined, and `#join` has forgotten it.
    );
  }

  #linger(name: string, channel: Channel): void {
    if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return;
    clearTimeout(channel.lingering);
    channel.lingering = setTimeout(() => {
      this.#forget(name, channel);
      this.#source.leave(name);
    }, this.#lingerMs).unref();
  }

  #forget(name: string, channel: Channel): void {
    if (this.#channels.get(name) !== channel) return;
    this.#channels.delete(name);
    this.#size.set(this.#channels.size);
  }
}
