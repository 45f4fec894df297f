import { messageOf, SluiceError } from '../../errors.ts';
import type { Topic } from '../../graph/graph.ts';
import type { Metrics } from '../../metrics.ts';
import { withTimeout } from '../../support/with-timeout.ts';
import type { KafkaDriver } from './driver.ts';

interface Options {
  readonly topics: ReadonlyMap<string, Topic>;
  readonly deadLetterTopic: string | undefined;
  readonly driver: Pick<KafkaDriver, 'missingTopics'>;
  readonly metrics: Metrics;
}

/** How long Kafka may take to say which topics there are. */
const ASK_MS = 15_000;

/** The topics that are consumed: those of the graph, which may be replaced. */
export class ConsumedTopics {
  readonly #options: Options;
  #topics: ReadonlyMap<string, Topic>;

  /** @throws SluiceError BAD_SETTINGS if dead letters would be consumed */
  constructor(options: Options) {
    this.#options = options;
    this.#topics = options.topics;
    this.#demandNoDeadLetters(options.topics);
    this.#begin(options.topics.keys());
  }

  get names(): string[] {
    return [...this.#topics.keys()];
  }

  /**
   * Whether these topics can be consumed in place of those that are.
   *
   * @throws SluiceError if they can't
   */
  async check(topics: ReadonlyMap<string, Topic>): Promise<void> {
    this.#demandNoDeadLetters(topics);
    const added = [...topics.keys()].filter((name) => !this.#topics.has(name));
    if (added.length === 0) return;
    const missing = await this.#missing(added);
    if (missing.length === 0) return;
    const names = missing.join(', ');
    throw new SluiceError(
      'BAD_GRAPH',
      `expected topics that exist in Kafka, got ${names}: create them, then reload the graph again`,
    );
  }

  /** @returns whether they are others than before, rather than the same handled in another way */
  replace(topics: ReadonlyMap<string, Topic>): boolean {
    const before = this.#topics;
    this.#topics = topics;
    const added = [...topics.keys()].filter((name) => !before.has(name));
    const dropped = [...before.keys()].filter((name) => !topics.has(name));
    this.#begin(added);
    this.#end(dropped);
    return added.length + dropped.length > 0;
  }

  async #missing(topics: readonly string[]): Promise<readonly string[]> {
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
    if (deadLetterTopic === undefined || !topics.has(deadLetterTopic)) return;
    throw new SluiceError(
      'BAD_SETTINGS',
      `DEAD_LETTER_TOPIC: expected a topic that no field of the graph shows, got ${deadLetterTopic}`,
    );
  }

  /** At 0 from the start, or Prometheus would see no increase at the first of a topic. */
  #begin(topics: Iterable<string>): void {
    const { badBatches, badPartitions, positionResets } = this.#options.metrics;
    for (const topic of topics) {
      badBatches.inc({ topic }, 0);
      for (const to of ['beginning', 'end']) positionResets.inc({ topic, to }, 0);
      badPartitions.set({ topic }, 0);
    }
  }

  /** A gauge would stand for ever where it stood. */
  #end(topics: Iterable<string>): void {
    const { badPartitions, kafkaLag, kafkaLagSeconds } = this.#options.metrics;
    for (const topic of topics) {
      for (const gauge of [badPartitions, kafkaLag, kafkaLagSeconds]) gauge.remove({ topic });
    }
  }
}
