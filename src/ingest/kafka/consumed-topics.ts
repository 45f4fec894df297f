import { messageOf, SluiceError } from '../../errors.ts';
import type { Topic } from '../../graph/graph.ts';
import { topicNamed } from '../../graph/topics.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../support/clock.ts';
import { withTimeout } from '../../support/with-timeout.ts';
import type { KafkaDriver } from './driver.ts';
import { MatchedTopics } from './matched-topics.ts';

interface Options {
  readonly topics: ReadonlyMap<string, Topic>;
  readonly deadLetterTopic: string | undefined;
  readonly driver: Pick<KafkaDriver, 'missingTopics' | 'topics'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** How long Kafka may take to say which topics there are. */
const ASK_MS = 15_000;

/** The pause between two looks whether all topics still exist. */
const LOOK_MS = 60_000;

/**
 * The topics that are consumed: those of the graph, which may be replaced, if Kafka has them, and those that match its
 * patterns. `notReady` reports a topic that is missing from the start, since its name may be wrong, but not one that goes
 * later, since it goes for all pods.
 */
export class ConsumedTopics {
  readonly #options: Options;
  #topics: ReadonlyMap<string, Topic>;
  readonly #matched = new MatchedTopics();
  #missing: ReadonlySet<string> = new Set();
  /** Whether all topics have been there, the dead-letter topic included. */
  #wereThere = false;

  /** @throws SluiceError BAD_SETTINGS if dead letters would be consumed */
  constructor(options: Options) {
    this.#options = options;
    this.#topics = options.topics;
    this.#demandNoDeadLetters(options.topics);
    this.#matched.use(options.topics);
    this.#begin(this.#named);
  }

  /** Also those that are missing. */
  get names(): readonly string[] {
    return [...this.#named, ...this.#matched.names];
  }

  /** Whether the graph has no topics. */
  get areNone(): boolean {
    return this.#topics.size === 0;
  }

  /** The topics of a stream that are consumed. */
  of(stream: string): readonly string[] {
    return this.#consumable.filter((name) =>
      topicNamed(this.#topics, name)?.streams.some((one) => one.name === stream),
    );
  }

  /** The topics that match patterns of the graph. */
  get matched(): Pick<MatchedTopics, 'hasPatterns' | 'noteTexts' | 'joined' | 'matched'> {
    return this.#matched;
  }

  /** The topics that the graph has by their names. */
  get #named(): readonly string[] {
    return namesIn(this.#topics);
  }

  /** Which topics are missing, or not consumed; undefined: none. */
  get missing(): string | undefined {
    if (this.#missing.size > 0) return `topics missing: ${[...this.#missing].join(', ')}`;
    return this.#matched.refusal;
  }

  /** Which topics have been missing since the start. */
  get notReady(): string | undefined {
    return this.#wereThere ? undefined : this.missing;
  }

  /** Asks Kafka, and logs which topics have gone or are back. @returns the topics that can be consumed */
  async present(): Promise<readonly string[]> {
    const { driver, deadLetterTopic } = this.#options;
    const named = this.#named;
    const wanted = deadLetterTopic === undefined ? named : [...named, deadLetterTopic];
    this.#note(wanted, new Set(await driver.missingTopics(wanted)));
    if (this.#matched.hasPatterns) this.#match(await driver.topics(), new Set(wanted));
    return this.#consumable;
  }

  #match(there: readonly string[], others: ReadonlySet<string>): void {
    const { log } = this.#options;
    const { names: before, refusal } = this.#matched;
    this.#matched.look(there, others);
    const { names } = this.#matched;
    const added = names.filter((name) => !before.includes(name));
    const dropped = before.filter((name) => !names.includes(name));
    this.#begin(added);
    this.#end(dropped);
    if (added.length > 0) log.info({ topics: added }, 'topics that match a pattern are consumed');
    if (dropped.length > 0) log.warn({ topics: dropped }, 'topics that matched a pattern are gone');
    if (this.#matched.refusal !== undefined && refusal === undefined) log.error(this.#matched.refusal);
  }

  /**
   * Looks again and again until `signal` aborts, more often while a topic is missing, or others may match.
   *
   * @param consumed the topics that could be consumed before
   * @param oftenMs the pause then
   * @param onOthers called once other topics can be consumed, which ends the watch
   */
  async watch(
    consumed: readonly string[],
    oftenMs: number,
    onOthers: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, log } = this.#options;
    for (;;) {
      const isOften = this.#missing.size > 0 || this.#matched.hasPatterns;
      await clock.sleep(isOften ? oftenMs : LOOK_MS, signal);
      if (signal.aborted) return;
      try {
        if (String(await this.present()) === String(consumed)) continue;
        if (!signal.aborted) onOthers();
        return;
      } catch (thrown) {
        log.debug({ error: messageOf(thrown) }, 'could not look which topics there are');
      }
    }
  }

  /**
   * Checks whether these topics can be consumed in place of the present ones.
   *
   * @throws SluiceError if they can't
   */
  async check(topics: ReadonlyMap<string, Topic>): Promise<void> {
    this.#demandNoDeadLetters(topics);
    const added = namesIn(topics).filter((name) => !this.#topics.has(name));
    if (added.length === 0) return;
    const missing = await this.#missingOf(added);
    if (missing.length === 0) return;
    const names = missing.join(', ');
    throw new SluiceError(
      'BAD_GRAPH',
      `expected topics that exist in Kafka, got ${names}: create them, then reload the graph again`,
    );
  }

  /** @returns whether topics were added or dropped, rather than only handled in another way */
  replace(topics: ReadonlyMap<string, Topic>): boolean {
    const before = this.#topics;
    const consumed = this.names;
    this.#topics = topics;
    this.#matched.use(topics);
    const { names } = this;
    this.#begin(names.filter((name) => !consumed.includes(name)));
    this.#end(consumed.filter((name) => !names.includes(name)));
    const added = [...topics.keys()].filter((name) => !before.has(name));
    const dropped = [...before.keys()].filter((name) => !topics.has(name));
    return added.length + dropped.length > 0;
  }

  get #consumable(): readonly string[] {
    return this.names.filter((name) => !this.#missing.has(name));
  }

  #note(wanted: readonly string[], missing: ReadonlySet<string>): void {
    const { metrics, log } = this.#options;
    const gone = wanted.filter((name) => missing.has(name) && !this.#missing.has(name));
    const back = wanted.filter((name) => !missing.has(name) && this.#missing.has(name));
    if (gone.length > 0) log.error({ topics: gone }, 'topics are missing; the others are consumed');
    if (back.length > 0) log.info({ topics: back }, 'topics that were missing are there');
    for (const topic of wanted) metrics.topicMissing.set({ topic }, missing.has(topic) ? 1 : 0);
    this.#missing = missing;
    if (missing.size === 0) this.#wereThere = true;
  }

  async #missingOf(topics: readonly string[]): Promise<readonly string[]> {
    try {
      return await withTimeout(this.#options.driver.missingTopics(topics), ASK_MS, () => {
        throw new Error(`no answer within ${ASK_MS} ms`);
      });
    } catch (cause) {
      const message = `expected Kafka to say whether it has ${topics.join(', ')}: ${messageOf(cause)}`;
      throw new SluiceError('KAFKA_FAILED', message, { cause });
    }
  }

  #demandNoDeadLetters(topics: ReadonlyMap<string, Topic>): void {
    const { deadLetterTopic } = this.#options;
    // Patterns leave it out.
    if (deadLetterTopic === undefined || !topics.has(deadLetterTopic)) return;
    throw new SluiceError(
      'BAD_SETTINGS',
      `DEAD_LETTER_TOPIC: expected a topic that no field of the graph shows, got ${deadLetterTopic}`,
    );
  }

  /** Counters begin at 0: otherwise Prometheus would not see the first increase of a topic. */
  #begin(topics: Iterable<string>): void {
    const { badBatches, badPartitions, positionResets } = this.#options.metrics;
    for (const topic of topics) {
      badBatches.inc({ topic }, 0);
      for (const to of ['beginning', 'end', 'divergence']) positionResets.inc({ topic, to }, 0);
      badPartitions.set({ topic }, 0);
    }
  }

  /** Removes gauges: otherwise each would keep its last value for ever. */
  #end(topics: Iterable<string>): void {
    const { badPartitions, kafkaLag, kafkaLagSeconds, topicMissing } = this.#options.metrics;
    for (const topic of topics) {
      for (const gauge of [badPartitions, kafkaLag, kafkaLagSeconds, topicMissing]) gauge.remove({ topic });
    }
  }
}

function namesIn(topics: ReadonlyMap<string, Topic>): readonly string[] {
  return [...topics.values()].filter(({ pattern }) => pattern === undefined).map(({ name }) => name);
}
