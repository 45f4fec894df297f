import type { Log } from '../../log.ts';
import {
  valueOf,
  TransactionRefused,
  type Command,
  type CommandConnection,
  type Reply,
} from './connection.ts';
import type { BusNames } from './names.ts';
import { isNotPermitted, isNotWritable, isRefusal } from './refusals.ts';
import { lossesText } from './topic-list.ts';

interface TopicVersionsOptions {
  readonly connection: CommandConnection;
  readonly names: BusNames;
  /** Distinguishes the versions of this pod from those of others. */
  readonly pod: string;
  readonly log: Log;
  /** ms */
  readonly now: () => number;
  /**
   * Whether the server lacks what scripts have done for the topic; undefined if only its version can tell: then that counts
   * as lost also if another pod has published in between.
   */
  readonly isLost: (topic: string) => Promise<boolean> | undefined;
}

/** Messages published longer ago have reached all listeners, and can't be lost with a server any more: ms. */
const RECENT_MS = 60_000;

const TAKES_NO_WRITES =
  'Redis takes no writes; events are published all the same, and count as missed after each lost connection';

/** Stands for a version that no topic has, so that a comparison with it fails. */
const NONE = '';

/**
 * Each topic has a version in Redis. Everything that is published for the topic changes it, in the same transaction. No
 * version is ever used twice, by any pod, so equal versions mean that nothing was published in between. A counter could not
 * do that: a server that has lost its last writes would count to the same number again.
 */
export class TopicVersions {
  readonly #options: TopicVersionsOptions;
  /** The last version that this pod has given to a topic, and when. */
  readonly #given = new Map<string, { readonly version: string; readonly at: number }>();
  /** When this pod last published to a topic, or asked who listens, without a script: no history contains that. */
  readonly #unkept = new Map<string, number>();
  /** Topics that this pod has published to while Redis took no writes: that did not change their versions. */
  readonly #outdated = new Set<string>();
  /** Losses that Redis did not permit to announce: when the topic was last published to before the loss, in ms. */
  readonly #untold = new Map<string, number>();
  #count = 0;
  #arePermitted = true;

  constructor(options: TopicVersionsOptions) {
    this.#options = options;
  }

  /** Whether Redis permits the commands that versions need. */
  get arePermitted(): boolean {
    return this.#arePermitted;
  }

  /**
   * Finds out whether Redis permits what versions need.
   *
   * @throws if Redis can't tell just now
   */
  async tryOut(): Promise<void> {
    const { connection, names, log } = this.#options;
    const key = names.versionKey('');
    try {
      await connection.transact([
        ['SET', key, NONE],
        ['GET', key],
        ['DEL', key],
      ]);
      this.#arePermitted = true;
    } catch (thrown) {
      if (!(thrown instanceof TransactionRefused)) throw thrown;
      if (isNotWritable(thrown.reason)) return;
      if (!isNotPermitted(thrown.reason)) throw thrown;
      if (!this.#arePermitted) return;
      this.#arePermitted = false;
      log.warn(
        { reason: thrown.reason },
        'Redis refuses MULTI, SET, GET or DEL; after each lost connection events count as missed',
      );
    }
  }

  /**
   * Runs the commands in one transaction that gives the topic a new version.
   *
   * @param otherwise runs them where Redis does not permit that, or takes no writes for now
   * @throws TransactionRefused, or an error if the connection is lost
   */
  async run<Some extends Reply | undefined>(
    topic: string,
    commands: readonly Command[],
    otherwise: () => Promise<readonly Some[]>,
  ): Promise<readonly (Reply | Some)[]> {
    const { connection, names, log } = this.#options;
    const key = names.versionKey(topic);
    const version = this.#next();
    this.#unkept.set(topic, this.#options.now());
    if (!this.#arePermitted) return this.#runWithoutVersion(topic, otherwise);
    try {
      const replies = await connection.transact([['SET', key, version], ...commands]);
      this.#note(topic, version);
      this.#outdated.delete(topic);
      return replies.slice(1);
    } catch (thrown) {
      if (!(thrown instanceof TransactionRefused)) throw thrown;
      // Where some command or channel is not permitted, only the replies to single commands tell which.
      const isFull = isNotWritable(thrown.reason);
      if (!isFull && !isNotPermitted(thrown.reason)) {
        this.#note(topic, NONE);
        throw thrown;
      }
      if (isFull && this.#outdated.size === 0) log.warn({ reason: thrown.reason }, TAKES_NO_WRITES);
      return this.#runWithoutVersion(topic, otherwise);
    }
  }

  async #runWithoutVersion<Replies>(topic: string, otherwise: () => Promise<Replies>): Promise<Replies> {
    const { connection, names } = this.#options;
    this.#note(topic, NONE);
    this.#outdated.add(topic);
    // Deletes the version: none is as good as a new one, which the next heartbeat gives, and this pod may end before that.
    // Redis deletes even without memory, unless the key has just moved to another node, where it would count as up to date.
    const [reply] = await connection.send([['DEL', names.versionKey(topic)]]);
    const refusal = reply !== undefined && 'error' in reply ? reply.error.message : undefined;
    if (refusal !== undefined && !isNotWritable(refusal) && !isNotPermitted(refusal)) {
      throw new TransactionRefused(refusal);
    }
    return otherwise();
  }

  /**
   * Runs a script that gives the topic a new version, with all that it publishes.
   *
   * @param script is given the version
   * @param told called with the reason why Redis does not permit it; undefined if the script has been run
   * @returns undefined if Redis does not permit that, or takes no writes for now: nothing has been run, or only a part,
   *   which pods recognise by its offsets when it is published again
   * @throws TransactionRefused, or an error if the connection is lost
   */
  async runScript(
    topic: string,
    script: (version: string) => Command,
    told: (refusal: string | undefined) => void,
  ): Promise<unknown> {
    if (!this.#arePermitted || !(await this.#renewBeforeScript(topic))) return undefined;
    const version = this.#next();
    const [reply] = await this.#options.connection.send([script(version)]);
    if (reply !== undefined && 'error' in reply) {
      const reason = reply.error.message;
      this.#note(topic, NONE);
      if (isNotWritable(reason)) return undefined;
      if (!isNotPermitted(reason)) throw new TransactionRefused(reason);
      told(reason);
      return undefined;
    }
    told(undefined);
    this.#note(topic, version);
    this.#outdated.delete(topic);
    return valueOf(reply);
  }

  /**
   * A script that finds the version of the last script takes the history for complete: messages that were published while
   * Redis took no writes must change the version before.
   *
   * @returns false if Redis takes no writes
   */
  async #renewBeforeScript(topic: string): Promise<boolean> {
    if (!this.#outdated.has(topic)) return true;
    try {
      await this.#options.connection.transact([...this.#renewing([topic]), this.#announcingRenewal([topic])]);
      this.#outdated.delete(topic);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof TransactionRefused)) throw thrown;
      if (isNotWritable(thrown.reason) || isNotPermitted(thrown.reason)) return false;
      throw thrown;
    }
  }

  /**
   * Runs the commands in one transaction that reads the versions of these topics.
   *
   * @returns the replies, and the version of each topic; null for one that has none, or whose version tells nothing
   * @throws TransactionRefused, or an error if the connection is lost
   */
  async readWith(commands: readonly Command[], topics: readonly string[]) {
    const replies = (await this.#tryReading(commands, topics)) ?? {
      own: await this.#options.connection.send(commands),
      versions: [],
    };
    const versions = topics.map((topic, index) => {
      const reply = replies.versions[index];
      return [topic, reply === undefined ? null : (valueOf(reply) as string | null)] as const;
    });
    return { replies: replies.own, versions: new Map(versions) };
  }

  /** @returns undefined if the versions tell nothing: Redis does not permit them, or could not change them just now */
  async #tryReading(commands: readonly Command[], topics: readonly string[]) {
    // Rights may be given while the connection lasts.
    if (!this.#arePermitted) await this.tryOut();
    if (!this.#arePermitted) return undefined;
    const outdated = [...this.#outdated];
    // Something is written each time, if only to see that Redis takes writes.
    const writing = outdated.length > 0 ? this.#renewing(outdated) : [this.#writingNothing()];
    const renewal = this.#announcingRenewal(outdated);
    const before = [...commands, ...writing, ...(outdated.length > 0 ? [renewal] : [])];
    try {
      const replies = await this.#options.connection.transact([...before, ...this.#reading(topics)]);
      for (const topic of outdated) this.#outdated.delete(topic);
      if (this.#untold.size > 0) await this.#announce(new Map(this.#untold));
      return { own: replies.slice(0, commands.length), versions: replies.slice(before.length) };
    } catch (thrown) {
      if (!(thrown instanceof TransactionRefused)) throw thrown;
      if (isNotWritable(thrown.reason) || isNotPermitted(thrown.reason)) return undefined;
      throw thrown;
    }
  }

  /** Gives a version to topics that have none: without one, no listener could tell later that nothing was missed. */
  async initialise(topics: readonly string[]): Promise<void> {
    const { connection, names } = this.#options;
    if (!this.#arePermitted || topics.length === 0) return;
    await connection.send(topics.map((topic) => ['SET', names.versionKey(topic), this.#next(), 'NX']));
  }

  /**
   * Notifies listeners of losses. To be called for another server, or for the same one after a start or a promotion: it may
   * lack what this pod published last, and listeners that have moved to it can't know.
   *
   * @throws if they can't be notified just now
   */
  async announceLost(): Promise<void> {
    const { connection, log, now } = this.#options;
    const since = now() - RECENT_MS;
    const recent = [...this.#given].filter(([, { at }]) => at >= since);
    if (recent.length === 0) return;
    const reading = this.#arePermitted ? this.#reading(recent.map(([topic]) => topic)) : [];
    const present = await connection.send(reading);
    const lost: string[] = [];
    for (const [index, [topic, { version }]] of recent.entries()) {
      const reply = present[index];
      const isOther = reply === undefined || isRefusal(reply) || valueOf(reply) !== version;
      if (!isOther) continue;
      const isUnkept = (this.#unkept.get(topic) ?? -Infinity) >= since;
      if (isUnkept || (await this.#options.isLost(topic)) !== false) lost.push(topic);
    }
    if (lost.length === 0) return;
    const losses = new Map(recent.flatMap(([topic, { at }]) => (lost.includes(topic) ? [[topic, at]] : [])));
    const isTold = await this.#announceWithVersions(losses);
    const when = isTold ? 'listeners are told' : 'listeners are told once Redis permits it';
    log.warn({ topics: lost }, `Redis may have lost messages that it had acknowledged; ${when}`);
    for (const [topic, { version }] of recent) {
      if (this.#given.get(topic)?.version !== version) continue;
      this.#given.delete(topic);
      this.#unkept.delete(topic);
    }
  }

  /** Listeners that connect later see the loss by the versions. @returns whether the others are told */
  async #announceWithVersions(losses: ReadonlyMap<string, number>): Promise<boolean> {
    const topics = [...losses.keys()];
    try {
      await this.#options.connection.transact([this.#announcing(losses), ...this.#renewing(topics)]);
    } catch (thrown) {
      if (!(thrown instanceof TransactionRefused)) throw thrown;
      for (const topic of topics) this.#outdated.add(topic);
      return this.#announce(losses);
    }
    for (const topic of topics) this.#untold.delete(topic);
    return true;
  }

  /**
   * Where Redis does not permit it, listeners are told with the first heartbeat after it does.
   *
   * @returns whether listeners are told
   * @throws if Redis is busy, or the connection is lost
   */
  async #announce(losses: ReadonlyMap<string, number>): Promise<boolean> {
    const [reply] = await this.#options.connection.send([this.#announcing(losses)]);
    const isTold = !isRefusal(reply);
    if (isTold) valueOf(reply);
    for (const [topic, at] of losses) {
      if (isTold) this.#untold.delete(topic);
      else this.#untold.set(topic, at);
    }
    return isTold;
  }

  #announcing(losses: ReadonlyMap<string, number>): Command {
    const now = this.#options.now();
    const told = [...losses].map(([topic, at]) => ({ topic, ageMs: now - at }));
    return ['PUBLISH', this.#options.names.gapsChannel, lossesText(told)];
  }

  #reading(topics: readonly string[]): readonly Command[] {
    return topics.map((topic) => ['GET', this.#options.names.versionKey(topic)]);
  }

  #renewing(topics: readonly string[]): readonly Command[] {
    return topics.map((topic) => ['SET', this.#options.names.versionKey(topic), this.#next()]);
  }

  /** A pod that compared versions a moment before must know that the comparison told nothing. */
  #announcingRenewal(topics: readonly string[]): Command {
    return ['PUBLISH', this.#options.names.renewalsChannel, JSON.stringify(topics)];
  }

  #writingNothing(): Command {
    return ['SET', this.#options.names.versionKey(''), NONE];
  }

  #next(): string {
    this.#count += 1;
    return `${this.#options.pod}-${this.#count.toString(36)}`;
  }

  #note(topic: string, version: string): void {
    this.#given.set(topic, { version, at: this.#options.now() });
  }
}
