import { setTimeout as sleep } from 'node:timers/promises';
import { RedisPubSub } from '#graphql-redis-subscriptions';
import { ReplyError, type ChainableCommander, type Redis } from 'ioredis';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { keyOfAddress, type Address, type RedisAccess } from './access.ts';
import {
  TransactionRefused,
  type Command,
  type CommandConnection,
  type ConnectionListener,
  type ListeningConnection,
  type Reply,
} from './connection.ts';
import { masterConnector } from './master-connector.ts';
import { createRedis, logOutages, MAX_RETRY_MS } from './redis-client.ts';
import type { Sentinels } from './sentinels.ts';

export interface IoredisOptions {
  readonly access: Exclude<RedisAccess, { nodes: unknown }>;
  /** They tell where Redis is, in place of `access`. */
  readonly sentinels?: Sentinels | undefined;
  readonly log: Log;
}

/** The publishing connection is closed, and made anew, if Redis has not replied for so long. */
const REPLY_TIMEOUT_MS = 10_000;

/** If nothing arrives for so long over a connection that is being made, it is made again. */
const STALLED_MS = 2_000;

/** Channels in one SUBSCRIBE. */
export const CHANNELS_PER_COMMAND = 1_000;

/** Between two attempts to join a channel over connections that Redis refuses. */
const JOIN_AGAIN_MS = 200;

/** Whether Redis refuses a channel. If it refuses a login, ioredis rejects the next commands with that error. */
export function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof ReplyError)) return false;
  const { command } = thrown as { command?: { readonly name: string } };
  return command === undefined || /^s?subscribe$/i.test(command.name);
}

/** What both connections have in common. */
export abstract class IoredisConnection {
  protected readonly redis: Redis;
  readonly #sentinels: Sentinels | undefined;
  /** The master that a Sentinel has named for the last attempt to connect. */
  #master: string | undefined;

  /** @param name in the log */
  constructor(
    { access, sentinels, log }: IoredisOptions,
    name: string,
    differences: Parameters<typeof createRedis>[1],
  ) {
    const connecting = (address: Address): void => void (this.#master = keyOfAddress(address));
    this.redis = createRedis(access, {
      ...differences,
      ...(sentinels && { Connector: masterConnector(sentinels, connecting) }),
    });
    this.#sentinels = sentinels;
    logOutages(this.redis, log.child({ connection: name }));
  }

  start(listener: ConnectionListener): void {
    let isReady = false;
    this.redis.on('connect', () => this.expectProgress(() => isReady));
    this.redis.on('ready', () => {
      const { stream } = this.redis;
      void this.prepare().then((prepared) => {
        // A connection that has replaced it meanwhile is prepared separately.
        if (this.redis.stream === stream) isReady = prepared;
        if (prepared) listener.onReady();
        return prepared;
      });
    });
    this.redis.on('close', () => {
      if (isReady) listener.onLost();
      isReady = false;
    });
    // If the first attempt fails, ioredis emits an `error` event and tries again.
    this.redis.connect().catch(() => undefined);
    this.#sentinels?.follow(this);
  }

  stop(): void {
    this.#sentinels?.unfollow(this);
    this.redis.disconnect();
  }

  reconnect(): void {
    this.redis.stream?.destroy();
  }

  /** Reconnects, unless the connection is to one of these servers, or is being made. */
  moveTo(masters: readonly Address[]): void {
    const isConnected = this.redis.stream?.remoteAddress !== undefined;
    if (isConnected && !masters.some((one) => keyOfAddress(one) === this.#master)) this.reconnect();
  }

  /** @returns false if this connection is of no use: another one is made */
  protected abstract prepare(): Promise<boolean>;

  /** A connection may become half open while it is being made, before anything else watches it. */
  protected expectProgress(isReady: () => boolean): void {
    const { stream } = this.redis;
    let bytesRead = -1;
    const watch = setInterval(() => {
      if (isReady() || stream.destroyed) clearInterval(watch);
      else if (stream.bytesRead === bytesRead) stream.destroy();
      bytesRead = stream.bytesRead;
    }, STALLED_MS).unref();
  }
}

/** While there is no connection, commands fail at once: nothing is queued, and nothing is sent a second time. */
export class IoredisCommands extends IoredisConnection implements CommandConnection {
  constructor(options: IoredisOptions) {
    super(options, 'publisher', {
      autoResendUnfulfilledCommands: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: REPLY_TIMEOUT_MS,
    });
  }

  protected prepare(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const pipeline = this.redis.pipeline();
    for (const command of commands) add(pipeline, command);
    return replies(await pipeline.exec());
  }

  async transact(commands: readonly Command[]): Promise<readonly Reply[]> {
    const transaction = this.redis.multi();
    for (const command of commands) add(transaction, command);
    try {
      return replies(await transaction.exec());
    } catch (thrown) {
      if (!(thrown instanceof ReplyError)) throw thrown;
      const { previousErrors = [] } = thrown as { previousErrors?: readonly Error[] };
      throw new TransactionRefused(messageOf(previousErrors[0] ?? thrown));
    }
  }
}

/** Dispatches messages by way of RedisPubSub. */
export class IoredisListening extends IoredisConnection implements ListeningConnection {
  readonly #log: Log;
  readonly #pubSub: RedisPubSub;
  /** The ids of RedisPubSub, by channel. */
  readonly #ids = new Map<string, number>();
  /** Why Redis refused the channels at the last attempt: one line is logged for each reason, not for each attempt. */
  #refusal: string | undefined;

  constructor(options: IoredisOptions) {
    super(options, 'subscriber', { maxRetriesPerRequest: null, autoResubscribe: false });
    this.#log = options.log;
    this.#pubSub = new RedisPubSub({
      publisher: this.redis,
      subscriber: dispatchOnly(this.redis, options.log),
      messageEventName: 'messageBuffer',
    });
  }

  async join(channel: string, listener: (payload: Buffer | string) => void): Promise<void> {
    await this.#subscribed(channel);
    const former = this.#ids.get(channel);
    this.#ids.set(channel, await this.#pubSub.subscribe(channel, listener));
    if (former !== undefined) this.#pubSub.unsubscribe(former);
  }

  async #subscribed(channel: string): Promise<void> {
    for (;;) {
      try {
        await this.redis.subscribe(channel);
        return;
      } catch (thrown) {
        if (isRefusal(thrown) || !(thrown instanceof ReplyError)) throw thrown;
        await sleep(JOIN_AGAIN_MS);
      }
    }
  }

  leave(channel: string): void {
    const id = this.#ids.get(channel);
    this.#ids.delete(channel);
    if (id !== undefined) this.#pubSub.unsubscribe(id);
  }

  /** Joins all channels again. ioredis itself would send SUBSCRIBE, and ignore the replies. */
  protected async prepare(): Promise<boolean> {
    const { stream } = this.redis;
    const channels = [...this.#ids.keys()];
    try {
      for (let from = 0; from < channels.length; from += CHANNELS_PER_COMMAND) {
        // Channels of a later command may have been left meanwhile.
        const wanted = channels
          .slice(from, from + CHANNELS_PER_COMMAND)
          .filter((name) => this.#ids.has(name));
        if (wanted.length > 0) await this.redis.subscribe(...wanted);
      }
      this.#refusal = undefined;
      return this.redis.stream === stream && this.redis.status === 'ready';
    } catch (thrown) {
      if (!(thrown instanceof ReplyError)) return false; // The connection is lost, or the bus is stopped.
      const reason = messageOf(thrown);
      if (reason !== this.#refusal) {
        this.#log.warn({ reason }, 'Redis refuses channels that were joined before; connecting again');
      }
      this.#refusal = reason;
      // A pause between attempts: each of them connects at first.
      await sleep(MAX_RETRY_MS);
      stream?.destroy();
      return false;
    }
  }

  async fence(): Promise<void> {
    await this.redis.ping();
  }

  /** Messages stay in the socket, and behind it in Redis's output buffer, as if this process were too busy to read. */
  pause(): void {
    this.redis.stream?.pause();
  }

  resume(): void {
    this.redis.stream?.resume();
  }

  get bytesRead(): number {
    return this.redis.stream?.bytesRead ?? 0;
  }
}

/** Nearly all commands publish. The method for that takes half the time of `call`. */
function add(pipeline: ChainableCommander, command: Command): void {
  const [name, channel, payload] = command;
  if (name === 'PUBLISH' && channel !== undefined && payload !== undefined) {
    pipeline.publish(channel, payload);
  } else if (name === 'SPUBLISH' && channel !== undefined && payload !== undefined) {
    pipeline.spublish(channel, payload);
  } else {
    pipeline.call(name, command.slice(1));
  }
}

/** @throws the first error that is not Redis's own: the connection is lost */
function replies(results: readonly (readonly [Error | null, unknown])[] | null): Reply[] {
  return (results ?? []).map(([error, value]) => {
    if (error === null) return { value };
    if (!(error instanceof ReplyError)) throw error;
    return { error };
  });
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
