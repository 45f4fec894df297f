import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/settings.ts';
import { messageOf } from '../../errors.ts';
import type { Topic } from '../../graph/graph.ts';
import type { Log } from '../../log.ts';
import { BadBatches } from './bad-batches.ts';
import { BatchProcessor, type BatchProcessorOptions } from './batch-processor.ts';
import { systemClock, type Clock } from '../../support/clock.ts';
import { DeadLetters } from '../dead-letter.ts';
import {
  GROUP_TIMING,
  type Assignment,
  type GroupMember,
  type GroupTiming,
  type KafkaDriver,
  type PartitionPosition,
  type PositionReset,
} from './driver.ts';
import { GroupAdmission } from './group-admission.ts';
import type { BusId } from './group-bus.ts';
import { LettersInHand } from './letters-in-hand.ts';
import { ConsumedTopics } from './consumed-topics.ts';
import { measureConsumption } from './gauges.ts';
import { partitionState, type KafkaSourceState } from './state.ts';
import { Pipeline } from '../pipeline.ts';
import { largestRecord } from '../record-bytes.ts';
import { ReadAgain } from './read-again.ts';
import type { Schemas } from '../schemas/codec.ts';
import { supervise } from '../../support/supervise.ts';
import { unlessAborted } from '../../support/unless-aborted.ts';

export type KafkaSourceSettings = Pick<
  Config,
  | 'KAFKA_GROUP_ID'
  | 'KAFKA_START'
  | 'KAFKA_BAD_BATCH'
  | 'KAFKA_SESSION_TIMEOUT_MS'
  | 'DEAD_LETTER_TOPIC'
  | 'EVENT_MAX_AGE_SECONDS'
  | 'MAX_EVENT_FANOUT_BYTES'
  | 'REDIS_PREFIX'
  | 'BUS_ID'
>;

export interface KafkaSourceOptions extends Pick<
  BatchProcessorOptions,
  'publisher' | 'records' | 'hold' | 'metrics' | 'log' | 'trace' | 'spans'
> {
  readonly settings: KafkaSourceSettings;
  readonly topics: ReadonlyMap<string, Topic>;
  /** Why the process must not join the group yet; undefined if it may. Default: it may. */
  readonly mayNotJoin?: () => string | undefined;
  /** Returns the id that distinguishes the bus from others. Default: buses are not distinguished. */
  readonly busId?: BusId | undefined;
  /**
   * For gateways without Redis: each process is a consumer group of its own and gets all events. The group starts at the
   * end, and is deleted at the stop.
   */
  readonly broadcast: boolean;
  /** The schemas that messages name. Absent: none can be had. */
  readonly schemas?: Schemas | undefined;
  readonly clock?: Clock;
  readonly timing?: GroupTiming;
  readonly driver: KafkaDriver;
}

const RESETS = {
  beginning: 'retention has deleted events that were not consumed; the partition goes on at its beginning',
  end: 'the position is beyond the end of the log, which has lost events; the partition goes on at its end',
  divergence: 'the log has lost events that were consumed; the partition goes on behind what is left of them',
} as const;

const JOINING = 'joining';

/**
 * Consumes the graph's topics for as long as it runs. A consumer that crashes is replaced by a new one after a while:
 *
 *   which topics exist? ──► may the group be joined? ──► join ──► consume ──► crash, other topics ─┐
 *        ▲                                                                                           │
 *        └─────────────────────────────── wait, longer each time ◄───────────────────────────────────┘
 */
export class KafkaSource {
  readonly #options: KafkaSourceOptions;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #driver: KafkaDriver;
  readonly #groupId: string;
  readonly #badBatches: BadBatches;
  readonly #pipeline: Pipeline;
  /** What other processes may have to read again. */
  readonly consumption: ReadAgain;
  readonly #processor: BatchProcessor;
  readonly #letters: LettersInHand | undefined;
  readonly #stopping = new AbortController();
  readonly #topics: ConsumedTopics;
  /** Aborts when other topics are to be consumed. */
  #outdated = new AbortController();
  readonly #admission: GroupAdmission;
  #loop: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  #notReady: string | undefined = JOINING;
  /** The logged reasons why Kafka has not been reached yet; undefined once Kafka has told which topics there are. */
  #unreached: Set<string> | undefined = new Set();
  /** Partitions of this member. */
  #assigned = 0;
  #member: GroupMember | undefined;
  #lastError: string | undefined;
  /** ms */
  #answeredAt = -Infinity;

  /** @throws SluiceError BAD_SETTINGS */
  constructor(options: KafkaSourceOptions) {
    const { settings, topics, records, metrics, log, clock = systemClock, broadcast, trace, spans } = options;
    const { publisher, hold } = options;
    const observed = { metrics, log, trace, spans };
    this.#options = options;
    this.#log = log;
    this.#clock = clock;
    this.#driver = options.driver;
    this.#groupId = broadcast ? `${settings.KAFKA_GROUP_ID}-${randomUUID()}` : settings.KAFKA_GROUP_ID;
    const { DEAD_LETTER_TOPIC: deadLetters } = settings;
    const { driver } = options;
    this.#topics = new ConsumedTopics({ topics, deadLetterTopic: deadLetters, driver, clock, metrics, log });
    const stopping = this.#stopping.signal;
    this.#admission = new GroupAdmission({
      groupId: this.#groupId,
      driver,
      mayNotJoin: options.mayNotJoin ?? (() => undefined),
      configured: settings.BUS_ID,
      busId: options.busId,
      startsAtEnd: settings.KAFKA_START === 'latest' && !broadcast,
      clock,
      metrics,
      log,
    });
    const sink = deadLetters === undefined ? undefined : driver.deadLetterSink(deadLetters);
    this.#letters = sink && new LettersInHand({ sink, log, clock, stopping });
    measureConsumption(this, () => this.#topics.names, metrics);
    this.#badBatches = new BadBatches({
      policy: settings.KAFKA_BAD_BATCH,
      sink: this.#letters,
      metrics,
      log,
      clock,
      stopping,
    });
    const { REDIS_PREFIX: prefix, EVENT_MAX_AGE_SECONDS: maxAgeSeconds } = settings;
    const routing = { topics, prefix, maxAgeSeconds, now: clock.now, schemas: options.schemas };
    this.#pipeline = new Pipeline({ ...routing, ...observed });
    this.#processor = new BatchProcessor({
      badBatches: this.#badBatches,
      publisher,
      records,
      maxFanoutBytes: settings.MAX_EVENT_FANOUT_BYTES,
      ...(hold && { hold }),
      pipeline: this.#pipeline,
      deadLetters: new DeadLetters({ sink: this.#letters, now: clock.now, ...observed }),
      letters: this.#letters,
      clock,
      stopping,
      ...observed,
    });
    this.consumption = new ReadAgain({
      driver,
      routing,
      maxRecordBytes: largestRecord(records.mostOfOwner),
      maxFanoutBytes: settings.MAX_EVENT_FANOUT_BYTES,
      topicsOf: (stream) => this.#topics.of(stream),
      positions: (topic) => this.#certainPositions(topic),
      published: (topic, partition) => this.#processor.published(topic, partition),
    });
  }

  /**
   * Why no events are consumed, or not those of all topics; undefined once all topics have been there, the group is joined
   * and positions are resolved. A later outage of the brokers, or a topic that goes, leaves it undefined: else all pods
   * would leave the Service at once. A crash that is not retriable sets it again.
   */
  notReady(): string | undefined {
    if (this.#assigned > 0 && this.#badBatches.size === this.#assigned) {
      return `no partition can be consumed: ${this.#assigned} of ${this.#assigned} are stopped by a bad record batch`;
    }
    return this.#topics.notReady ?? this.#notReady;
  }

  /** The state of the source, for metrics and `/debug/ingest`. */
  inspect(): KafkaSourceState {
    return {
      connected: this.#clock.now() - this.#answeredAt < this.#options.settings.KAFKA_SESSION_TIMEOUT_MS,
      lastError: this.#topics.missing ?? this.#lastError,
      partitions:
        this.#member?.positions().map((at) =>
          partitionState(at, {
            time: this.#processor.times.of(at.topic, at.partition),
            now: this.#clock.now(),
            stopped: this.#badBatches.reason(at.topic, at.partition),
            held: this.#processor.held(at.topic, at.partition),
          }),
        ) ?? [],
    };
  }

  /** Does not wait for Kafka: `notReady` says how far it is. */
  start(): Promise<void> {
    this.#loop ??= supervise({
      run: () => this.#run(),
      onCrash: (error, wait) => this.#crashed(error, wait),
      clock: this.#clock,
      stopping: this.#stopping.signal,
    });
    return Promise.resolve();
  }

  /** Finishes the chunk being published, commits it and leaves the group. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#notReady = 'stopped';
    this.#stopping.abort();
    await this.#loop;
    await this.#letters?.stop();
    if (this.#options.broadcast && this.#loop !== undefined) await this.#admission.forget();
  }

  /** See ConsumedTopics. */
  check(topics: ReadonlyMap<string, Topic>): Promise<void> {
    return this.#topics.check(topics);
  }

  /** Consumes these topics from now on. Joins the group anew if topics were added or dropped. */
  use(topics: ReadonlyMap<string, Topic>): void {
    this.#pipeline.use(topics);
    this.consumption.use(topics);
    if (this.#topics.replace(topics)) this.#outdated.abort();
  }

  /** @returns the error that the consumer crashed with; undefined if it was stopped, or could not begin yet */
  async #run(): Promise<unknown> {
    for (;;) {
      this.#outdated = new AbortController();
      const outdated = this.#outdated.signal;
      const end = await this.#consume(AbortSignal.any([this.#stopping.signal, outdated]));
      if (!outdated.aborted || this.#stopping.signal.aborted) return end;
    }
  }

  /** @param signal ends the consumption */
  async #consume(signal: AbortSignal): Promise<unknown> {
    const { settings } = this.#options;
    const { KAFKA_SESSION_TIMEOUT_MS: sessionTimeoutMs } = settings;
    const { timing = { ...GROUP_TIMING, sessionTimeoutMs } } = this.#options;
    if (this.#topics.areNone) {
      this.#notReady = undefined;
      return unlessAborted(new Promise(() => undefined), signal);
    }
    const topics = await unlessAborted(this.#topics.present(), signal);
    if (topics === undefined) return undefined;
    if (this.#unreached !== undefined) this.#notReady = JOINING;
    this.#unreached = undefined;
    const outdated = this.#outdated;
    const joinAgain = (): void => outdated.abort();
    if (topics.length === 0) {
      // Topics that are missing are waited for, longer each time; none need match a pattern.
      if (this.#topics.missing !== undefined) return undefined;
      this.#notReady = undefined;
      await this.#topics.watch(topics, timing.metadataMaxAgeMs, joinAgain, signal);
      return undefined;
    }
    const refusal = await this.#admission.refusal(topics, signal);
    if (signal.aborted) return undefined;
    if (refusal !== undefined) {
      this.#notReady = refusal;
      this.#lastError = refusal;
      return undefined;
    }
    const { matched } = this.#topics;
    if (matched.hasPatterns) {
      const group = await unlessAborted(this.#driver.describeGroup(this.#groupId, topics), signal);
      if (signal.aborted) return undefined;
      matched.noteTexts(group?.texts ?? []);
    }
    const member = this.#driver.member({
      groupId: this.#groupId,
      topics,
      matched: (topic) => matched.matched(topic),
      bus: this.#admission.busId,
      timing,
      onBatch: (batch) => {
        this.consumption.handed(batch);
        return this.#processor.process(batch);
      },
      onAssigned: (assignment) => this.#joined(assignment),
      onPositionReset: (reset) => this.#positionReset(reset),
      onAnswer: () => (this.#answeredAt = this.#clock.now()),
    });
    this.#member = member;
    const ended = new AbortController();
    void this.#admission.watch(topics, joinAgain, ended.signal);
    void this.#topics.watch(topics, timing.metadataMaxAgeMs, joinAgain, ended.signal);
    try {
      return await unlessAborted(member.run(), signal);
    } finally {
      ended.abort();
      await member.stop();
      this.#member = undefined;
    }
  }

  /** None unless the group has confirmed this member within half a session: another member may have got its partitions. */
  #certainPositions(topic?: string): readonly PartitionPosition[] {
    const { KAFKA_SESSION_TIMEOUT_MS: sessionMs } = this.#options.settings;
    const member = this.#member;
    if (member === undefined || this.#clock.now() - member.confirmedAt >= sessionMs / 2) return [];
    return member.positions(topic);
  }

  #joined(partitions: Assignment): void {
    this.#topics.matched.joined();
    this.consumption.assigned(this.#clock.now());
    this.#badBatches.clear();
    this.#processor.clear();
    this.#assigned = Object.values(partitions).flat().length;
    if (!this.#stopping.signal.aborted) this.#notReady = undefined;
    this.#log.info({ groupId: this.#groupId, partitions }, 'joined the consumer group');
  }

  #positionReset({ topic, partition, position, to, offset }: PositionReset): void {
    this.#options.metrics.positionResets.inc({ topic, to });
    this.#log.warn({ topic, partition, position, offset }, RESETS[to]);
  }

  #crashed(error: unknown, wait: number): void {
    this.#options.metrics.consumerRestarts.inc();
    const reason = messageOf(error);
    this.#lastError = reason;
    if (this.#unreached !== undefined && this.#driver.isRetriable(error)) {
      this.#notReady = `Kafka has not been reached yet: ${reason}`;
      if (!this.#unreached.has(reason))
        this.#log.warn({ error: reason }, 'Kafka has not been reached yet; trying again until it is');
      this.#unreached.add(reason);
      return;
    }
    if (!this.#driver.isRetriable(error)) this.#notReady = `consumer crashed: ${reason}`;
    this.#log.error(
      { error: reason, waitMs: Math.round(wait) },
      'the Kafka consumer ended; starting another',
    );
  }
}
