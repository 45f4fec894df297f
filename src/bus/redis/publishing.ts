import { PublishError, type Publication } from '../../events/publisher.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import { valueOf, type Command, type CommandConnection, type Reply } from './connection.ts';
import { HistoryPublishing } from './history-publishing.ts';
import type { LinkMetrics } from './link-metrics.ts';
import { Master } from './master.ts';
import type { BusNames } from './names.ts';
import { PUBLISH_ON_ALL, publishCommands, repliesOf } from './publish-commands.ts';
import { publishInOrder } from './publish-in-order.ts';
import { isNotPermitted } from './refusals.ts';
import type { BusTiming } from './timing.ts';
import type { TopicHistory } from './topic-history.ts';
import { TopicVersions } from './topic-versions.ts';

interface PublishingOptions {
  readonly connection: CommandConnection;
  readonly names: BusNames;
  /** The histories of the topics that have one, by topic. */
  readonly histories: ReadonlyMap<string, TopicHistory>;
  /** Distinguishes the versions of this pod from those of others. */
  readonly pod: string;
  /** Whether Redis is asked which channels have subscribers; if not, all channels count as subscribed. */
  readonly countsSubscribers: boolean;
  /** Called when the server is found to be a replica. */
  readonly foundReplica: () => void;
  readonly metrics: LinkMetrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly timing: BusTiming;
}

/** Redis's reply to the probe of a listener. */
interface Probe {
  /** The version of each topic; null for a topic without one. */
  readonly versions: ReadonlyMap<string, string | null>;
  /** How many listeners the message has reached. */
  readonly receivers: number;
  /** The server's replication id; undefined where Redis does not tell it. */
  readonly replicationId: string | undefined;
}

/** Channels in one PUBSUB NUMSUB: all those of a chunk, a thousand events with many channels each, would be too many. */
const CHANNELS_PER_COMMAND = 10_000;

const NO_GAPS = '[]';

/**
 * The publishing side of the bus. It sends events of a topic in one transaction, which also gives the topic a new version.
 * So Redis takes all of them or none, and after a lost connection a listener sees by the version whether it may have missed
 * anything.
 *
 * While there is no usable connection, publishing fails at once, and nothing is queued here.
 */
export class Publishing {
  readonly #options: PublishingOptions;
  readonly #versions: TopicVersions;
  readonly #history: HistoryPublishing;
  readonly #master: Master;
  #countsSubscribers: boolean;
  /** Whether Redis permits scripts. */
  #runsScripts = false;

  constructor(options: PublishingOptions) {
    this.#options = options;
    this.#countsSubscribers = options.countsSubscribers;
    const { connection, names, pod, metrics, log, clock, timing } = options;
    this.#versions = new TopicVersions({
      connection,
      names,
      pod,
      log,
      now: clock.now,
      isLost: (topic) => options.histories.get(topic)?.isLost(),
    });
    this.#history = new HistoryPublishing(options.histories, this.#versions);
    this.#master = new Master({
      connection,
      metrics,
      log,
      clock,
      timing,
      tryOut: async () => {
        this.#countsSubscribers = options.countsSubscribers;
        await this.#versions.tryOut();
        await this.#tryScript();
      },
      mayHaveLost: () => this.#versions.announceLost(),
      foundReplica: options.foundReplica,
    });
  }

  start(onUsable: () => void): void {
    this.#master.start(onUsable);
  }

  stop(): void {
    this.#master.stop();
  }

  get wasReached(): boolean {
    return this.#master.wasReached;
  }

  /** Whether there is a connection to a master, even if nothing may be published over it yet. */
  get canProbe(): boolean {
    return this.#master.isConnected;
  }

  /** Whether all that listen hear what is published now: see `Master`. */
  get isUsable(): boolean {
    return this.#master.isUsable;
  }

  async subscribed(topic: string, channels: readonly string[]): Promise<ReadonlySet<string>> {
    this.#master.expectUsable();
    if (!this.#countsSubscribers) return new Set(channels);
    const wanted = await this.#master.run(this.#history.wanted(topic, channels));
    if (wanted !== undefined) return wanted;
    const commands: Command[] = [];
    for (let from = 0; from < channels.length; from += CHANNELS_PER_COMMAND) {
      commands.push(['PUBSUB', 'NUMSUB', ...channels.slice(from, from + CHANNELS_PER_COMMAND)]);
    }
    // Gives the topic a new version, since the replies decide which events are passed over: a pod that does not listen just
    // now must see later that it may have missed something.
    const counts: unknown[] = [];
    // NUMSUB has no key: a cluster node that no longer serves the channels counts no subscriber, and refuses only PUBLISH.
    const { connection, names } = this.#options;
    const ask = () => connection.send([...commands, ['PUBLISH', names.gapsChannel, NO_GAPS]]);
    for (const reply of await this.#master.run(this.#versions.run(topic, commands, ask))) {
      if ('error' in reply) return this.#refusesCounting(reply.error, channels);
      if (Array.isArray(reply.value)) counts.push(...(reply.value as unknown[]));
    }
    // Each reply is a list of channel, count, channel, count …
    return new Set(channels.filter((_, index) => Number(counts[2 * index + 1]) > 0));
  }

  async publish(topic: string, batch: readonly Publication[]): Promise<void> {
    let replies: readonly (Reply | undefined)[];
    // Without history there is nothing to delete: the version that is given here ends the epoch, and its deletions with it.
    const events = batch.filter(({ deletes }) => deletes === undefined);
    try {
      this.#master.expectUsable();
      if (await this.#master.run(this.#history.publish(topic, batch))) {
        this.#options.metrics.publishes.inc(events.length);
        return;
      }
      replies = await this.#master.run(this.#publishAll(topic, events));
    } catch (thrown) {
      throw new PublishError(batch, batch.length, thrown);
    }
    const failed = events.filter((_, index) => isRefused(replies[index]));
    this.#options.metrics.publishes.inc(events.length - failed.length);
    if (failed.length === 0) return;
    const refusal = replies.find((reply) => reply !== undefined && 'error' in reply);
    throw new PublishError(failed, batch.length, refusal?.error);
  }

  async #publishAll(topic: string, batch: readonly Publication[]): Promise<readonly (Reply | undefined)[]> {
    const { connection, names } = this.#options;
    const commands = publishCommands(batch, this.#runsScripts ? names.versionKey(topic) : undefined);
    let inOrder: readonly (Reply | undefined)[] | undefined;
    const replies = await this.#versions.run(
      topic,
      commands.map(({ command }) => command),
      async () => (inOrder = await publishInOrder(connection, batch)),
    );
    return inOrder ?? repliesOf(commands, replies as readonly Reply[]);
  }

  /** @throws if the connection is lost */
  async #tryScript(): Promise<void> {
    const { connection, names } = this.#options;
    const [reply] = await connection.send([['EVAL', PUBLISH_ON_ALL, '1', names.versionKey(''), '']]);
    this.#runsScripts = reply !== undefined && 'value' in reply;
  }

  /**
   * Asks Redis what a listener needs to find out whether it has missed anything. Redis does all of it at once, so a pod
   * that hears the message has heard all that was published before the versions were read.
   *
   * @throws if Redis can't be asked, or is no master
   */
  async probe(topics: readonly string[], channel: string, message: string): Promise<Probe> {
    const commands: Command[] = [['PUBLISH', channel, message], ...this.#master.inspection];
    const { replies, versions } = await this.#master.run(this.#versions.readWith(commands, topics));
    const [published, inspection] = replies;
    const replicationId = await this.#master.inspected(inspection);
    return { versions, receivers: Number(valueOf(published)), replicationId };
  }

  /**
   * Whether messages that are published to this server reach other pods than the one with this own channel.
   *
   * @throws if Redis accepts nothing, or does not answer
   */
  async othersListen(channel: string): Promise<boolean> {
    const { connection, names } = this.#options;
    const [reached, counted] = await connection.send([
      ['PUBLISH', names.gapsChannel, NO_GAPS],
      ['PUBSUB', 'NUMSUB', channel],
    ]);
    // Redis may count connections of this pod that are lost: they have joined both channels.
    const [, own] = valueOf(counted) as unknown[];
    return Number(valueOf(reached)) > Number(own);
  }

  /** Gives a version to topics that have none. */
  initialise(topics: readonly string[]): Promise<void> {
    return this.#versions.initialise(topics);
  }

  #refusesCounting(error: Error, channels: readonly string[]): ReadonlySet<string> {
    if (!isNotPermitted(error.message)) throw error;
    // Redis would refuse it the next time, too. Publishing to channels without subscribers only costs time.
    this.#options.log.warn(
      { reason: error.message },
      'Redis refuses PUBSUB NUMSUB; events are published to channels without subscribers, too',
    );
    this.#countsSubscribers = false;
    return new Set(channels);
  }
}

function isRefused(reply: Reply | undefined): boolean {
  return reply === undefined || 'error' in reply;
}
