import { messageOf } from '../../errors.ts';
import { PublishError, type Publication } from '../../events/publisher.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../support/clock.ts';
import {
  TransactionRefused,
  valueOf,
  type Command,
  type CommandConnection,
  type Reply,
} from './connection.ts';
import type { BusNames } from './names.ts';
import { publishCommand, publishInOrder } from './publish-in-order.ts';
import { isNotPermitted, isReadOnly } from './refusals.ts';
import { INSPECTION, inspectedServer, type Server } from './server.ts';
import type { BusTiming } from './timing.ts';
import { HistoryPublishing } from './history-publishing.ts';
import type { TopicHistory } from './topic-history.ts';
import { TopicVersions } from './topic-versions.ts';

interface PublishingOptions {
  readonly connection: CommandConnection;
  readonly names: BusNames;
  /** Of the topics that have one. */
  readonly histories: ReadonlyMap<string, TopicHistory>;
  /** Tells the versions of this pod from those of others. */
  readonly pod: string;
  /** Whether Redis is asked which channels have subscribers; if not, all channels count as subscribed. */
  readonly countsSubscribers: boolean;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly timing: BusTiming;
}

/** What Redis says to a listener. */
interface Probe {
  /** Of each topic; null for one without. */
  readonly versions: ReadonlyMap<string, string | null>;
  /** How many listeners the message has reached. */
  readonly receivers: number;
  /** Of the server; undefined where Redis does not tell it. */
  readonly replicationId: string | undefined;
}

/** Channels in one PUBSUB NUMSUB: all those of a chunk, a thousand events with many channels each, would be too many. */
const CHANNELS_PER_COMMAND = 10_000;

/** Why a bus can't be used that has never been connected. */
export const NOT_REACHED = 'Redis has not been reached yet';

const NOT_MASTER = 'Redis is not a master';

/** Between two looks at a server that is no master, or does not answer as it should. */
const LOOK_AGAIN_MS = 500;

/**
 * The publishing side of the bus. What it sends for a topic is one transaction, which also gives the topic a new version:
 * so Redis takes all of it or nothing, and a listener that has lost its connection sees by the version whether it may
 * have missed anything.
 *
 *     connected ──► is it a master? have all messages survived that this pod has published? ──► wait ──► publish
 *         ▲                                                                                                │
 *         └──────────────────────────────────── connection lost, or no master any more ◄───────────────────┘
 *
 * While there is no usable connection, publishing fails at once, and nothing is queued here.
 */
export class Publishing {
  readonly #options: PublishingOptions;
  readonly #versions: TopicVersions;
  readonly #history: HistoryPublishing;
  #countsSubscribers: boolean;
  /** Why nothing can be published; undefined if it can. See `#become`. */
  #unusable: string | undefined;
  /** Whether the connection is to a master. */
  #isMaster = false;
  /** Whether Redis permits to ask which server it is. */
  #inspects = true;
  /** Of the server that is known to hold what this pod has published. */
  #replicationId: string | undefined;
  #wasReached = false;
  /** Aborts when the connection is lost. */
  #lost = new AbortController();

  constructor(options: PublishingOptions) {
    this.#options = options;
    this.#countsSubscribers = options.countsSubscribers;
    const { connection, names, pod, log, clock } = options;
    this.#versions = new TopicVersions({
      connection,
      names,
      pod,
      log,
      now: clock.now,
      isLost: (topic) => options.histories.get(topic)?.isLost(),
    });
    this.#history = new HistoryPublishing(options.histories, this.#versions);
    this.#become(NOT_REACHED);
  }

  start(onUsable: () => void): void {
    const { connection } = this.#options;
    connection.start({
      onReady: () => {
        this.#lost = new AbortController();
        void this.#begin(this.#lost.signal).then((usable) => usable && onUsable());
      },
      onLost: () => this.#onLost(),
    });
  }

  stop(): void {
    this.#become('the bus is stopped');
    this.#lost.abort();
    this.#options.connection.stop();
  }

  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** Whether there is a connection to a master, even if nothing may be published over it yet. */
  get canProbe(): boolean {
    return this.#isMaster;
  }

  /** Whether pods pass over events of channels without a subscriber; true even if Redis does not let this pod ask. */
  get countsSubscribers(): boolean {
    return this.#options.countsSubscribers;
  }

  /** @throws if nothing can be published */
  expectUsable(): void {
    if (this.#unusable !== undefined) throw new Error(this.#unusable);
  }

  async subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    this.expectUsable();
    if (!this.#countsSubscribers) return new Set(channels);
    const wanted = await this.#onMaster(this.#history.wanted(topic, channels));
    if (wanted !== undefined) return wanted;
    const commands: Command[] = [];
    for (let from = 0; from < channels.length; from += CHANNELS_PER_COMMAND) {
      commands.push(['PUBSUB', 'NUMSUB', ...channels.slice(from, from + CHANNELS_PER_COMMAND)]);
    }
    // With a new version, since events are passed over by what Redis replies: a pod that is not listening just now must
    // see later that it may have missed something.
    const counts: unknown[] = [];
    const ask = () => this.#options.connection.send(commands);
    for (const reply of await this.#onMaster(this.#versions.run(topic, commands, ask))) {
      if ('error' in reply) return this.#refusesCounting(reply.error, channels);
      counts.push(...(reply.value as unknown[]));
    }
    // Each reply is a list of channel, count, channel, count …
    return new Set(channels.filter((_, index) => Number(counts[2 * index + 1]) > 0));
  }

  async publish(topic: string, batch: readonly Publication[]): Promise<void> {
    let replies: readonly (Reply | undefined)[];
    try {
      this.expectUsable();
      if (await this.#onMaster(this.#history.publish(topic, batch))) {
        this.#options.metrics.publishes.inc(batch.length);
        return;
      }
      const inOrder = () => publishInOrder(this.#options.connection, batch);
      replies = await this.#onMaster(this.#versions.run(topic, batch.map(publishCommand), inOrder));
    } catch (thrown) {
      throw new PublishError(batch, batch.length, thrown);
    }
    const failed = batch.filter((_, index) => isRefused(replies[index]));
    this.#options.metrics.publishes.inc(batch.length - failed.length);
    if (failed.length === 0) return;
    const refusal = replies.find((reply) => reply !== undefined && 'error' in reply);
    throw new PublishError(failed, batch.length, refusal?.error);
  }

  /**
   * What a listener asks for to find out whether it has missed anything. Redis does all of it at once, so a pod that hears
   * the message has heard all that was published before the versions were read.
   *
   * @throws if Redis can't be asked, or is no master
   */
  async probe(topics: readonly string[], channel: string, message: string): Promise<Probe> {
    const commands: Command[] = [['PUBLISH', channel, message], ...(this.#inspects ? [INSPECTION] : [])];
    const { replies, versions } = await this.#onMaster(this.#versions.readWith(commands, topics));
    const [published, inspection] = replies;
    const server = this.#inspects ? this.#serverOf(inspection) : undefined;
    if (server?.role === 'replica') {
      this.#leaveReplica();
      throw new Error(NOT_MASTER);
    }
    const replicationId = server?.replicationId;
    if (replicationId !== undefined) await this.#expectSurvived(replicationId);
    return { versions, receivers: Number(valueOf(published)), replicationId };
  }

  /** Gives topics a version that have none. */
  initialise(topics: readonly string[]): Promise<void> {
    return this.#versions.initialise(topics);
  }

  #become(unusable: string | undefined): void {
    this.#unusable = unusable;
    this.#options.metrics.busConnected.set({ connection: 'publishing' }, unusable === undefined ? 1 : 0);
  }

  #onLost(): void {
    this.#isMaster = false;
    this.#become('the connection to Redis is lost');
    this.#lost.abort();
  }

  /** @returns whether publishing may begin; false if the connection was lost before that */
  async #begin(lost: AbortSignal): Promise<boolean> {
    const { clock, log, timing } = this.#options;
    const isFirst = !this.#wasReached;
    this.#become('the connection to Redis is being looked at');
    while (!lost.aborted) {
      try {
        if (await this.#isReadyToPublish()) break;
      } catch (thrown) {
        if (!lost.aborted) log.debug({ reason: messageOf(thrown) }, 'Redis could not be looked at');
      }
      await clock.sleep(LOOK_AGAIN_MS, lost);
    }
    if (!isFirst && !lost.aborted) {
      this.#become('other pods are given time to listen again');
      await clock.sleep(timing.settleMs, lost);
    }
    // A heartbeat may have found out meanwhile that it is no master any more.
    if (lost.aborted || !this.#isMaster) return false;
    this.#wasReached = true;
    this.#become(undefined);
    return true;
  }

  /** @throws if Redis can't be asked just now */
  async #isReadyToPublish(): Promise<boolean> {
    const [inspection] = await this.#options.connection.send([INSPECTION]);
    const server = this.#serverOf(inspection);
    if (server?.role === 'replica') {
      this.#leaveReplica();
      return false;
    }
    this.#countsSubscribers = this.#options.countsSubscribers;
    await this.#versions.tryOut();
    await this.#expectSurvived(server?.replicationId);
    this.#isMaster = true;
    return true;
  }

  /**
   * @param reply to the inspection
   * @returns undefined where Redis does not permit to ask; it is not asked again over this connection
   * @throws if Redis does not tell just now
   */
  #serverOf(reply: Reply | undefined): Server | undefined {
    this.#inspects = reply === undefined || !('error' in reply) || !isNotPermitted(reply.error.message);
    return this.#inspects ? inspectedServer(valueOf(reply)) : undefined;
  }

  /** Another server may lack what this pod has published last, and so may the same one after a start or a promotion. */
  async #expectSurvived(replicationId: string | undefined): Promise<void> {
    if (replicationId !== undefined && replicationId === this.#replicationId) return;
    await this.#versions.announceLost();
    this.#replicationId = replicationId;
  }

  async #onMaster<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      if (thrown instanceof TransactionRefused && isReadOnly(thrown.reason)) this.#leaveReplica();
      throw thrown;
    }
  }

  #refusesCounting(error: Error, channels: readonly string[]): ReadonlySet<string> {
    if (!isNotPermitted(error.message)) throw error;
    // Redis would refuse it at the next time, too. Publishing to channels without subscribers only costs time.
    this.#options.log.warn(
      { reason: error.message },
      'Redis refuses PUBSUB NUMSUB; events are published to channels without subscribers, too',
    );
    this.#countsSubscribers = false;
    return new Set(channels);
  }

  /** A failover leaves the old master as a replica: what is published there reaches only its own listeners. */
  #leaveReplica(): void {
    const { connection, metrics, log, clock } = this.#options;
    if (this.#unusable === NOT_MASTER) return;
    this.#isMaster = false;
    this.#become(NOT_MASTER);
    metrics.redisNotMaster.inc();
    log.warn('Redis is not a master; connecting again until it is');
    const lost = this.#lost.signal;
    void clock.sleep(LOOK_AGAIN_MS, lost).then(() => lost.aborted || connection.reconnect());
  }
}

function isRefused(reply: Reply | undefined): boolean {
  return reply === undefined || 'error' in reply;
}
