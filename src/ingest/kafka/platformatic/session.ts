import type { Log } from '../../../log.ts';
import { systemClock } from '../../../support/clock.ts';
import type { MemberOptions, PositionReset } from '../driver.ts';
import type { Cluster, TopicLayout } from './cluster.ts';
import { Fetcher } from './fetcher.ts';
import type { FetchedPartition } from './fetch-response.ts';
import { CODE, KafkaError } from './kafka-error.ts';
import type { MemberPartition } from './member-partition.ts';
import { isRebalance, type Membership } from './membership.ts';
import { PlatformaticBatch, type BatchSession } from './record-batch.ts';
import { decodeRecords } from './record-batches.ts';
import { resetsAfter } from '../start-positions.ts';
import { REST_MS, TopicWatch } from './topic-watch.ts';

interface SessionOptions {
  readonly cluster: Cluster;
  readonly membership: Membership;
  readonly member: MemberOptions;
  readonly partitions: readonly MemberPartition[];
  /** The layouts before the join: a partition that was added since may have no owner. */
  readonly layoutsBefore: ReadonlyMap<string, TopicLayout>;
  /** The layouts after the join. */
  readonly layouts: ReadonlyMap<string, TopicLayout>;
  readonly isRunning: () => boolean;
  readonly log: Log;
}

/** The answers of a broker that can't read its own log. */
const UNREADABLE = new Set<number>([CODE.unknownServerError, CODE.corruptMessage]);

/** Heartbeats that may be missing before a batch asks for one. */
const LATE_HEARTBEATS = 2;

/**
 * What a member does between a join and the next: heartbeats, fetches, and the processing of one batch at a time. A
 * rebalance lets the batch in hand come to its end, since what it has published is to be committed.
 */
export class Session implements BatchSession {
  readonly #options: SessionOptions;
  readonly #fetcher: Fetcher;
  readonly #topics: TopicWatch;
  readonly #finished = new AbortController();
  /** In the order in which they are looked at: the one that was processed last comes last. */
  readonly #turns: Set<MemberPartition>;
  /** The partition whose batch is being processed. */
  #inHand: MemberPartition | undefined;
  /** Why the member has to join again. */
  #over: Error | undefined;
  /** What crashes the member. */
  #crash: Error | undefined;
  #isStopping = false;
  #isLost = false;
  #wake: (() => void) | undefined;
  /** When the group last said that this is its member. */
  #beatAt = systemClock.now();

  constructor(options: SessionOptions) {
    this.#options = options;
    const { cluster, layoutsBefore, layouts, partitions, member, log } = options;
    this.#turns = new Set(partitions);
    this.#fetcher = new Fetcher({
      cluster,
      layouts,
      partitions,
      fetchWaitMs: member.timing.fetchWaitMs,
      onFetched: (partition, fetched) => this.#fetched(partition, fetched),
      onFailed: (error) => (error.isRetriable ? void this.#topics.look() : this.#fail(error)),
      log,
    });
    this.#topics = new TopicWatch({
      cluster,
      layouts: layoutsBefore,
      partitions,
      maxAgeMs: member.timing.metadataMaxAgeMs,
      onLooked: (now) => this.#fetcher.use(now),
      onChanged: (error) => this.#end(error),
      signal: this.#finished.signal,
    });
  }

  /** Resolves once the member has to join again, or is stopped; rejects with the error of a crash. */
  async run(): Promise<void> {
    this.#fetcher.fetch();
    const tasks = Promise.all([this.#beat(), this.#topics.watch()]);
    try {
      while (!this.#isEnding()) {
        const partition = [...this.#turns].find(({ isWaiting, isPaused }) => isWaiting && !isPaused);
        if (partition === undefined) await this.#woken();
        else await this.#process(partition);
      }
    } finally {
      if (this.#over !== undefined)
        this.#options.log.info({ reason: this.#over.message }, 'joining the consumer group again');
      this.#isLost = true;
      this.#finished.abort();
      await this.#fetcher.stop();
      await tasks;
    }
    if (this.#crash !== undefined) throw this.#crash;
  }

  /** Ends the session after the batch in hand. */
  stop(): void {
    this.#isStopping = true;
    this.#wake?.();
  }

  /**
   * The session sends heartbeats by itself, unless the process was frozen, maybe for longer than its membership lasts: then
   * another member has the partitions, and has published what this one is about to publish.
   */
  async heartbeat(): Promise<void> {
    const lateMs = systemClock.now() - this.#beatAt;
    if (this.#over === undefined && lateMs > LATE_HEARTBEATS * this.#options.member.timing.heartbeatMs) {
      await this.#sendHeartbeat();
    }
    if (this.#over !== undefined) throw this.#over;
  }

  async commit(
    consumed: MemberPartition,
    offset: number,
    leaderEpoch?: number,
    resets = consumed.resets,
  ): Promise<void> {
    const { topic, partition } = consumed;
    const metadata = consumed.metadata({ resets, leaderEpoch });
    try {
      await this.#options.membership.commit([{ topic, partition, offset, metadata }]);
    } catch (thrown) {
      this.#end(thrown as Error);
      throw thrown;
    }
    consumed.moveTo(offset, leaderEpoch, resets);
  }

  pause(partition: MemberPartition): () => void {
    const resume = partition.pause();
    return () => {
      resume();
      this.#wake?.();
      this.#fetcher.fetch();
    };
  }

  get confirmedAt(): number {
    return this.#beatAt;
  }

  isAssigned(): boolean {
    return !this.#isLost;
  }

  isRunning(): boolean {
    return this.#crash === undefined && this.#options.isRunning();
  }

  #isEnding(): boolean {
    return this.#isStopping || this.#over !== undefined || this.#crash !== undefined;
  }

  async #process(partition: MemberPartition): Promise<void> {
    const fetched = partition.waiting;
    if (fetched === undefined) return;
    this.#turns.delete(partition);
    this.#turns.add(partition);
    // The partition's broker is not asked again as long as the partition waits.
    const decoded = await decodeRecords(partition, partition.position, fetched);
    if (partition.waiting !== fetched) return;
    partition.taken();
    const { records, bad, next, leaderEpoch } = decoded;
    if (records.length === 0 && bad === undefined) {
      // Only markers of transactions, or aborted records.
      partition.moveTo(next, leaderEpoch);
      partition.rewind();
      this.#fetcher.fetch();
      return;
    }
    partition.fetchedUpTo(next, leaderEpoch);
    // A batch that can't be decoded is fetched again, by itself.
    if (bad === undefined) this.#fetcher.fetch();
    this.#inHand = partition;
    try {
      await this.#options.member.onBatch(new PlatformaticBatch(this, partition, decoded));
    } catch (thrown) {
      if (isOfKafka(thrown)) this.#end(thrown);
      else this.#fail(thrown as Error);
      return;
    } finally {
      this.#inHand = undefined;
    }
    const last = records.at(-1);
    const isConsumed = last !== undefined && bad === undefined && partition.position > last.offset;
    if (isConsumed && next > partition.position) partition.moveTo(next, leaderEpoch);
    if (!isConsumed || partition.isPaused) partition.rewind();
    this.#fetcher.fetch();
  }

  #fetched(partition: MemberPartition, fetched: FetchedPartition): void {
    const { errorCode, divergesAt } = fetched;
    const isOut = errorCode === CODE.offsetOutOfRange || divergesAt !== undefined;
    // The partition in hand has the position of its batch, not that of the fetch. The fetch is repeated.
    if (isOut && partition === this.#inHand) this.#rest(partition);
    else if (isOut) void this.#reset(partition, divergesAt);
    else if (errorCode === 0 || UNREADABLE.has(errorCode)) partition.fetched(fetched);
    else if (errorCode === CODE.topicAuthorization) {
      const message = `expected that this user may read ${partition.topic}: the broker refuses it`;
      this.#fail(new KafkaError(message, { codes: [errorCode], isRetriable: false }));
    } else {
      this.#rest(partition);
      void this.#topics.look();
    }
    this.#wake?.();
  }

  /** Moves the partition to where its log goes on. */
  async #reset(partition: MemberPartition, divergesAt: number | undefined): Promise<void> {
    const { topic, position } = partition;
    const resume = this.pause(partition);
    try {
      const { to, offset } = await this.#placeInLog(partition, divergesAt);
      const isReset = offset !== position || to === 'divergence';
      if (isReset) await this.commit(partition, offset, undefined, resetsAfter(partition.resets, to));
      // The broker may not know the leader epoch that the fetch named.
      else partition.moveTo(position, undefined);
      partition.rewind();
      if (isReset)
        this.#options.member.onPositionReset({ topic, partition: partition.partition, position, to, offset });
    } catch {
      this.#rest(partition);
    }
    resume();
  }

  async #placeInLog(
    partition: MemberPartition,
    divergesAt: number | undefined,
  ): Promise<Pick<PositionReset, 'to' | 'offset'>> {
    const { position } = partition;
    if (divergesAt !== undefined) return { to: 'divergence', offset: Math.min(position, divergesAt) };
    const [beginning, end] = await Promise.all([
      this.#offsetOf(partition, 'beginning'),
      this.#offsetOf(partition, 'end'),
    ]);
    if (position < beginning) return { to: 'beginning', offset: beginning };
    // The broker that leads the partition now may have records that the former leader lacked.
    return { to: 'end', offset: Math.min(position, end) };
  }

  async #offsetOf({ topic, partition }: MemberPartition, of: 'beginning' | 'end'): Promise<number> {
    const { cluster } = this.#options;
    const layouts = await cluster.topics([topic]);
    const layout = layouts.get(topic);
    const found = layout && (await cluster.offsets(topic, layout, [partition], of)).get(partition);
    if (found === undefined) throw new KafkaError(`${topic}/${partition} has no log`, { isRetriable: true });
    return found;
  }

  #rest(partition: MemberPartition): void {
    const resume = this.pause(partition);
    void systemClock.sleep(REST_MS, this.#finished.signal).then(resume);
  }

  async #beat(): Promise<void> {
    for (;;) {
      await systemClock.sleep(this.#options.member.timing.heartbeatMs, this.#finished.signal);
      if (this.#finished.signal.aborted) return;
      const failure = await this.#sendHeartbeat();
      if (failure === undefined) continue;
      // In a rebalance the membership must be kept for as long as the batch in hand takes.
      if (!(failure instanceof KafkaError && failure.has(CODE.rebalanceInProgress))) return;
    }
  }

  /** @returns why the member has to join again */
  async #sendHeartbeat(): Promise<Error | undefined> {
    const sentAt = systemClock.now();
    try {
      await this.#options.membership.heartbeat();
      this.#beatAt = sentAt;
      return undefined;
    } catch (thrown) {
      this.#end(thrown as Error);
      return thrown as Error;
    }
  }

  #end(error: Error): void {
    const isGone = isRebalance(error) && !error.has(CODE.rebalanceInProgress);
    if (isGone) this.#isLost = true;
    this.#over ??= error;
    this.#wake?.();
  }

  #fail(error: Error): void {
    this.#crash ??= error;
    this.#wake?.();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}

/** Errors of heartbeats and commits, which `onBatch` passes on. */
function isOfKafka(thrown: unknown): thrown is KafkaError {
  return thrown instanceof KafkaError;
}
