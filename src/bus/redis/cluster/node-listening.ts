import { messageOf } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Listener } from '../../bus.ts';
import type { IsSubscribed, NodeListeningConnection } from './node-connections.ts';
import { CHANNELS_PER_COMMAND, IoredisConnection, type IoredisOptions } from '../ioredis.ts';

interface NodeListeningOptions extends IoredisOptions {
  /** Called when the node has unsubscribed channels, or refused one: see ConnectNode. */
  readonly onMoved: (isSubscribed: IsSubscribed) => void;
}

export class NodeListening extends IoredisConnection implements NodeListeningConnection {
  readonly #listeners = new Map<string, Listener>();
  readonly #log: Log;

  constructor(options: NodeListeningOptions) {
    super(options, 'subscriber', { maxRetriesPerRequest: null, autoResubscribe: false });
    this.redis.on('smessageBuffer', (channel: Buffer, payload: Buffer) =>
      this.#listeners.get(channel.toString())?.(payload),
    );
    let noticing: NodeJS.Immediate | undefined;
    // ioredis emits an event for each channel, without its name. A turn later, joins that were acknowledged just before are over.
    this.redis.on('moved', () => {
      noticing ??= setImmediate(() => {
        noticing = undefined;
        const { subscriber = false } = this.redis.condition ?? {};
        const subscribed = new Set(subscriber === false ? [] : subscriber.channels('ssubscribe'));
        options.onMoved((channel) => subscribed.has(channel));
      });
    });
    this.#log = options.log;
  }

  async join(channels: ReadonlyMap<string, Listener>): Promise<void> {
    for (const [channel, listener] of channels) this.#listeners.set(channel, listener);
    const names = [...channels.keys()];
    for (let from = 0; from < names.length; from += CHANNELS_PER_COMMAND) {
      // Channels of a later command may have been left meanwhile.
      const wanted = names
        .slice(from, from + CHANNELS_PER_COMMAND)
        .filter((name) => this.#listeners.has(name));
      if (wanted.length > 0) await this.redis.ssubscribe(...wanted);
    }
  }

  forget(channels: Iterable<string>): void {
    for (const channel of channels) this.#listeners.delete(channel);
  }

  leave(channel: string): void {
    this.#listeners.delete(channel);
    this.redis
      .sunsubscribe(channel)
      .catch((thrown: unknown) =>
        this.#log.debug({ channel, reason: messageOf(thrown) }, 'SUNSUBSCRIBE failed'),
      );
  }

  async fence(): Promise<void> {
    await this.redis.ping();
  }

  pause(): void {
    this.redis.stream?.pause();
  }

  resume(): void {
    this.redis.stream?.resume();
  }

  get bytesRead(): number {
    return this.redis.stream?.bytesRead ?? 0;
  }

  protected prepare(): Promise<boolean> {
    return Promise.resolve(true);
  }
}
