import { RedisPubSub } from 'graphql-redis-subscriptions';
import { Redis, ReplyError } from 'ioredis';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { PublishError, type Publication } from '../events/publisher.ts';
import type { Bus, Listener, Subscription } from './bus.ts';
import { Channels, type ChannelSource } from './channels.ts';

interface RedisBusOptions {
  readonly url: string;
  /** Certificate authority (PEM) for `rediss:` URLs. */
  readonly ca: string | undefined;
  readonly lingerMs: number;
  /**
   * Whether `subscribed` asks Redis which channels have subscribers. False where a Redis node knows only its own
   * subscribers; then all channels count as subscribed.
   */
  readonly countsSubscribers: boolean;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Channels in one PUBSUB NUMSUB. All channels of a chunk (a thousand events with many channels each) would be too
 * many.
 */
const CHANNELS_PER_COMMAND = 10_000;

const NOT_SUBSCRIBED = 'this pod is not subscribed to Redis at present';

/** The publishing connection is closed, and made anew, if Redis has not replied for so long. */
const REPLY_TIMEOUT_MS = 10_000;

/**
 * The bus between pods: Redis pub/sub, one connection to publish and one to subscribe.
 *
 * Publishing fails at once while Redis is unreachable, so that the publisher stops and retries; nothing is queued here.
 * After an outage publishing also fails until this pod has joined its own channels again, as its own subscribers would
 * miss the messages. Joining waits until Redis is reachable; ioredis joins channels again that were joined before an
 * outage.
 */
export class RedisBus implements Bus {
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #channels: Channels;
  readonly #metrics: Metrics;
  readonly #log: Log;
  #countsSubscribers: boolean;
  /** Connections that have been ready at least once. */
  readonly #reached = new Set<Redis>();
  /** Whether all joined channels are joined on the present connection. */
  #isSubscribed = false;

  constructor({ url, ca, lingerMs, countsSubscribers, metrics, log }: RedisBusOptions) {
    this.#metrics = metrics;
    this.#log = log;
    this.#countsSubscribers = countsSubscribers;
    const common = {
      lazyConnect: true,
      keepAlive: 10_000,
      ...(ca === undefined ? {} : { tls: { ca } }),
    };
    this.#publisher = new Redis(url, {
      ...common,
      autoResendUnfulfilledCommands: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: REPLY_TIMEOUT_MS,
    });
    this.#subscriber = new Redis(url, { ...common, maxRetriesPerRequest: null });
    this.#watch(this.#publisher, log.child({ connection: 'publisher' }));
    this.#watch(this.#subscriber, log.child({ connection: 'subscriber' }));
    this.#publisher.on('ready', () => void this.#reached.add(this.#publisher));
    this.#subscriber.on('ready', () => void this.#onSubscriberReady());
    this.#subscriber.on('close', () => this.#onSubscriberClose());
    this.#channels = new Channels(this.#source(log), lingerMs, metrics.channels, log);
  }

  start(): void {
    // If the first attempt fails, ioredis emits an `error` event and tries again.
    this.#publisher.connect().catch(() => undefined);
    this.#subscriber.connect().catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#isSubscribed = false;
    this.#channels.clear();
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }

  notReady(): string | undefined {
    return this.#reached.size === 2 ? undefined : 'Redis has not been reached yet';
  }

  subscribe(_topic: string, channel: string, listener: Listener): Subscription {
    return this.#channels.subscribe(channel, listener);
  }

  onGap(): void {
    // Gaps are not found out yet.
  }

  /** Messages stay in the socket, and behind it in Redis's output buffer, as if this process were too busy to read. */
  pause(): void {
    this.#subscriberStream?.pause();
  }

  resume(): void {
    this.#subscriberStream?.resume();
  }

  async subscribed(_topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    if (!this.#isSubscribed) throw new Error(NOT_SUBSCRIBED);
    if (!this.#countsSubscribers) return new Set(channels);
    const commands: Promise<unknown>[] = [];
    for (let from = 0; from < channels.length; from += CHANNELS_PER_COMMAND) {
      const some = channels.slice(from, from + CHANNELS_PER_COMMAND);
      commands.push(this.#publisher.call('PUBSUB', ['NUMSUB', ...some]));
    }
    try {
      // A reply is a list of channel, count, channel, count …
      const replies = (await Promise.all(commands)).flat();
      return new Set(channels.filter((_, index) => Number(replies[2 * index + 1]) > 0));
    } catch (error) {
      if (!isCommandRefused(error)) throw error;
      // Redis would refuse it at the next time, too. Publishing to channels without subscribers only costs time.
      this.#log.warn(
        { reason: messageOf(error) },
        'Redis refuses PUBSUB NUMSUB; events are published to channels without subscribers, too',
      );
      this.#countsSubscribers = false;
      return new Set(channels);
    }
  }

  async publish(_topic: string, batch: readonly Publication[]): Promise<void> {
    if (!this.#isSubscribed) throw new PublishError(batch, batch.length, new Error(NOT_SUBSCRIBED));
    const pipeline = this.#publisher.pipeline();
    for (const { channel, payload } of batch) pipeline.publish(channel, payload);
    const replies = (await pipeline.exec()) ?? [];
    const failed = batch.filter((_, index) => replies[index]?.[0] !== null);
    this.#metrics.publishes.inc(batch.length - failed.length);
    if (failed.length > 0) {
      throw new PublishError(failed, batch.length, replies.find(([error]) => error !== null)?.[0]);
    }
  }

  /** Undefined before the first connection. */
  get #subscriberStream(): Redis['stream'] | undefined {
    return this.#subscriber.stream;
  }

  #source(log: Log): ChannelSource {
    const pubSub = new RedisPubSub({
      publisher: this.#publisher,
      subscriber: dispatchOnly(this.#subscriber, log),
      messageEventName: 'messageBuffer',
    });
    const ids = new Map<string, number>();
    return {
      join: async (channel, listener) => {
        await this.#subscriber.subscribe(channel);
        ids.set(channel, await pubSub.subscribe(channel, listener));
      },
      leave: (channel) => {
        const id = ids.get(channel);
        ids.delete(channel);
        if (id !== undefined) pubSub.unsubscribe(id);
      },
    };
  }

  /** Messages that other pods publish until the channels are joined again do not reach this pod's subscribers. */
  #onSubscriberClose(): void {
    if (!this.#isSubscribed) return;
    this.#isSubscribed = false;
    this.#metrics.busOutages.inc();
    this.#log.warn(
      'the subscribing connection to Redis is lost; events that other pods publish meanwhile are missed here',
    );
  }

  /** ioredis has just sent SUBSCRIBE for all channels again; Redis replies in order, so the PONG comes after those. */
  async #onSubscriberReady(): Promise<void> {
    try {
      await this.#subscriber.ping();
      this.#isSubscribed = true;
      this.#reached.add(this.#subscriber);
    } catch {
      // The connection has been closed again; ioredis makes the next one.
    }
  }

  #watch(redis: Redis, log: Log): void {
    let logged: string | undefined;
    redis.on('ready', () => {
      logged = undefined;
      log.info('connected to Redis');
    });
    // One line for each outage, not for each attempt to connect.
    redis.on('error', (error: Error) => {
      if (error.message !== logged) log.warn({ reason: error.message }, 'Redis is out of reach');
      logged = error.message;
    });
  }
}

/** Whether Redis, or a proxy in front of it, does not permit or does not have the command. */
function isCommandRefused(error: unknown): boolean {
  return error instanceof ReplyError && /^(NOPERM|ERR unknown)/i.test(messageOf(error));
}

/**
 * The subscribing connection as RedisPubSub gets it. RedisPubSub does not handle the rejection of a SUBSCRIBE that
 * Redis refuses, nor of an UNSUBSCRIBE while Redis is unreachable, and either would end the process. So the channel
 * has already been joined when RedisPubSub subscribes, and unsubscribing never rejects.
 */
function dispatchOnly(redis: Redis, log: Log): Redis {
  const connection = {
    on: (event: string, listener: (...args: unknown[]) => void) => redis.on(event, listener),
    subscribe: (_channel: string, done: (error: null) => void) => done(null),
    unsubscribe: (channel: string) =>
      redis
        .unsubscribe(channel)
        .catch((error: Error) => log.debug({ channel, reason: error.message }, 'UNSUBSCRIBE failed')),
    punsubscribe: () => undefined,
  };
  return connection as unknown as Redis;
}
