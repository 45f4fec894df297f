import type { Event } from '../events/event.ts';
import type { Topic } from '../graph/graph.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { LogThrottles } from '../support/log-throttles.ts';
import type { KafkaRecord } from './record.ts';

interface Options {
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms */
  readonly now: () => number;
}

/** The limit of the log for each topic and field; every event is counted. */
const LOG_BOUND = { lines: 1, periodMs: 60_000 };

/**
 * Counts and logs events that lack a field by which subscriptions pick them. Such an event reaches none of these
 * subscriptions, as if it were for others. Null and an empty list are values: the producer says that there is none.
 */
export class MissingKeys {
  readonly #options: Options;
  readonly #throttles: LogThrottles<string>;

  constructor(options: Options) {
    this.#options = options;
    this.#throttles = new LogThrottles({ ...LOG_BOUND, now: options.now });
  }

  /** Counters begin at 0. */
  know({ name, keys }: Topic): void {
    for (const field of keys) this.#options.metrics.missingKeys.inc({ topic: name, field }, 0);
  }

  /**
   * @param event the values of the topic's keys
   * @returns whether it lacks one
   */
  note(event: Event, topic: Topic, record: KafkaRecord): boolean {
    let isMissing = false;
    for (const field of topic.keys) {
      const value = Object.hasOwn(event, field) ? event[field] : undefined;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (value !== undefined && !isObject) continue;
      isMissing = true;
      this.#tell(field, isObject ? 'an object' : 'nothing', record);
    }
    return isMissing;
  }

  #tell(field: string, got: string, { topic, partition, offset }: KafkaRecord): void {
    const { metrics, log } = this.#options;
    metrics.missingKeys.inc({ topic, field });
    const suppressed = this.#throttles.admit(`${topic} ${field}`);
    if (suppressed === undefined) return;
    log.warn(
      { topic, partition, offset, field, got, suppressed },
      'an event lacks the field by which subscriptions pick it: expected a value or a list under this field',
    );
  }
}
