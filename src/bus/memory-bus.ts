import { setImmediate } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Publication } from '../events/publisher.ts';
import type { Bus, Listener, Subscription } from './bus.ts';
import { Channels } from './channels.ts';

interface MemoryBusOptions {
  readonly lingerMs: number;
  /** Lingering ones included. Default: no limit. */
  readonly maxChannels?: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Messages dispatched in one turn of the event loop. */
const PUBLISHED_AT_ONCE = 32;

/** A bus within one process, for modes without Redis: each process has all events that its subscribers need. */
export class MemoryBus implements Bus {
  readonly #listeners = new Map<string, Listener>();
  readonly #channels: Channels;
  readonly #metrics: Metrics;
  #hear: ((text: string) => void) | undefined;
  #pause: { readonly ended: Promise<void>; readonly end: () => void } | undefined;

  constructor({ lingerMs, maxChannels, metrics, log }: MemoryBusOptions) {
    this.#metrics = metrics;
    const source = {
      join: async (channel: string, listener: Listener) => void this.#listeners.set(channel, listener),
      leave: (channel: string) => void this.#listeners.delete(channel),
    };
    this.#channels = new Channels(source, lingerMs, metrics.channels, log, maxChannels);
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

  subscribe(_topic: string, channel: string, listener: Listener): Subscription {
    return this.#channels.subscribe(channel, listener);
  }

  get room(): number {
    return this.#channels.room;
  }

  onGap(): void {
    // Within a process nothing is missed.
  }

  async announce(text: string): Promise<void> {
    this.#hear?.(text);
  }

  onAnnouncement(listener: (text: string) => void): void {
    this.#hear = listener;
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

  async subscribed(_topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(channels.filter((channel) => this.#listeners.has(channel)));
  }

  /**
   * Resolves when all listeners have been called. A long batch yields to the event loop, so that sockets make
   * progress.
   */
  async publish(_topic: string, batch: readonly Publication[]): Promise<void> {
    for (const [index, { channel, payload }] of batch.entries()) {
      if (index > 0 && index % PUBLISHED_AT_ONCE === 0) await setImmediate();
      while (this.#pause !== undefined) await this.#pause.ended;
      this.#listeners.get(channel)?.(payload);
    }
    this.#metrics.publishes.inc(batch.length);
  }
}
