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
  /** Redis is asked for subscribers before anything is published; not where each node counts its own only. */
  readonly countsSubscribers: boolean;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Channels in one question: as many as one event may have, for each of a thousand events, would be too long a command. */
const ASKED_AT_ONCE = 10_000;

const DEAF = 'this pod does not hear Redis';

/** A publisher that has waited this long for any answer gives its connection up. */
const SILENCE_MS = 10_000;

/**
 * The bus between pods: Redis pub/sub, one connection to publish and one to listen.
 *
 * Publishing fails at once while Redis is away, so that whoever publishes knows and holds back; nothing is queued
 * here. After an outage it also fails until this pod's own channels are joined again: what is published before would
 * not reach its own subscribers. Joining waits for Redis to come back, and channels joined before are joined again by ioredis.
 */
export class RedisBus implements Bus {
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #channels: Channels;
  readonly #metrics: Metrics;
  readonly #log: Log;
  #countsSubscribers: boolean;
  /** Connections that have been of use once. */
  readonly #reached = new Set<Redis>();
  /** All joined channels are, or have been joined again on the present connection. */
  #hears = false;

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
      socketTimeout: SILENCE_MS,
    });
    this.#subscriber = new Redis(url, { ...common, maxRetriesPerRequest: null });
    this.#watch(this.#publisher, log.child({ connection: 'publisher' }));
    this.#watch(this.#subscriber, log.child({ connection: 'subscriber' }));
    this.#publisher.on('ready', () => void this.#reached.add(this.#publisher));
    this.#subscriber.on('ready', () => void this.#hear());
    this.#subscriber.on('close', () => this.#deafen());
    this.#channels = new Channels(this.#source(log), lingerMs, metrics.channels, log);
  }

  start(): void {
    // A refused first attempt is reported as an `error` event, and ioredis goes on trying.
    this.#publisher.connect().catch(() => undefined);
    this.#subscriber.connect().catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#hears = false;
    this.#channels.clear();
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }

  notReady(): string | undefined {
    return this.#reached.size === 2 ? undefined : 'Redis has not been reached yet';
  }

  subscribe(channel: string, listener: Listener): Subscription {
    return this.#channels.subscribe(channel, listener);
  }

  /** What Redis has sent stays in the socket, and behind it in Redis, as when this process is too busy to read. */
  pause(): void {
    this.#listening?.pause();
  }

  resume(): void {
    this.#listening?.resume();
  }

  async subscribed(channels: readonly string[]): Promise<ReadonlySet<string>> {
    if (!this.#hears) throw new Error(DEAF);
    if (!this.#countsSubscribers) return new Set(channels);
    const questions: Promise<unknown>[] = [];
    for (let from = 0; from < channels.length; from += ASKED_AT_ONCE) {
      const some = channels.slice(from, from + ASKED_AT_ONCE);
      questions.push(this.#publisher.call('PUBSUB', ['NUMSUB', ...some]));
    }
    try {
      // Name and count by turns.
      const replies = (await Promise.all(questions)).flat();
      return new Set(channels.filter((_, index) => Number(replies[2 * index + 1]) > 0));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // It will not say later either. Nothing is lost by publishing all.
      this.#log.warn(
        { reason: messageOf(error) },
        'Redis does not count subscribers; every event is published',
      );
      this.#countsSubscribers = false;
      return new Set(channels);
    }
  }

  async publish(batch: readonly Publication[]): Promise<void> {
    if (!this.#hears) throw new PublishError(0, batch.length, new Error(DEAF));
    const pipeline = this.#publisher.pipeline();
    for (const { channel, payload } of batch) pipeline.publish(channel, payload);
    const replies = (await pipeline.exec()) ?? [];
    const failed = replies.findIndex(([error]) => error !== null);
    const acknowledged = failed === -1 ? replies.length : failed;
    this.#metrics.publishes.inc(acknowledged);
    if (acknowledged < batch.length) throw new PublishError(acknowledged, batch.length, replies[failed]?.[0]);
  }

  /** There is none before the first connection. */
  get #listening(): Redis['stream'] | undefined {
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

  /** What other pods publish until the channels are joined again does not reach this one's subscribers. */
  #deafen(): void {
    if (!this.#hears) return;
    this.#hears = false;
    this.#metrics.busOutages.inc();
    this.#log.warn('Redis is not heard any more; what other pods publish meanwhile is missed here');
  }

  /** ioredis has just sent the SUBSCRIBEs of an earlier connection again; Redis answers in order. */
  async #hear(): Promise<void> {
    try {
      await this.#subscriber.ping();
      this.#hears = true;
      this.#reached.add(this.#subscriber);
    } catch {
      // The connection is gone again; the next one will be ready in its turn.
    }
  }

  #watch(redis: Redis, log: Log): void {
    let said: string | undefined;
    redis.on('ready', () => {
      said = undefined;
      log.info('connected to Redis');
    });
    // One line an outage, not one an attempt.
    redis.on('error', (error: Error) => {
      if (error.message !== said) log.warn({ reason: error.message }, 'Redis is out of reach');
      said = error.message;
    });
  }
}

/** Redis is there, and the command is not for us: a matter of permissions, or of a proxy in between. */
function isRefusal(error: unknown): boolean {
  return error instanceof ReplyError && /^(NOPERM|ERR unknown)/i.test(messageOf(error));
}

/**
 * The listening connection as RedisPubSub sees it. RedisPubSub leaves rejections unhandled, both of a SUBSCRIBE that
 * Redis refuses and of an UNSUBSCRIBE while Redis is away, and either would end the process. So the channel has
 * already been joined when RedisPubSub asks for it, and leaving never rejects.
 */
function dispatchOnly(redis: Redis, log: Log): Redis {
  const connection = {
    on: (event: string, listener: (...args: unknown[]) => void) => redis.on(event, listener),
    subscribe: (_channel: string, done: (error: null) => void) => done(null),
    unsubscribe: (channel: string) =>
      redis
        .unsubscribe(channel)
        .catch((error: Error) => log.debug({ channel, reason: error.message }, 'not left')),
    punsubscribe: () => undefined,
  };
  return connection as unknown as Redis;
}
