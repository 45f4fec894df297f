import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { LogThrottles } from '../support/log-throttles.ts';
import { SerializedResult } from './result.ts';
import type { Subscriber } from './subscriber.ts';

/** What is done where events may be missing: see the setting `ON_GAP`. */
export type GapPolicy = 'close' | 'tell' | 'ignore';

/** A group, as far as gaps concern it. */
interface Group {
  readonly size: number;
  tell(result: SerializedResult, isTold: (subscriber: Subscriber) => boolean): readonly Subscriber[];
}

/** Limits the log lines of each topic; the metric counts every gap. */
const LOG_BOUND = { lines: 1, periodMs: 10_000 };

/**
 * Tells clients where events of a topic may be missing, which they can't see themselves: clients that asked for it get a
 * result at the place of the gap, the others have to reconnect.
 */
export class Gaps {
  readonly #policy: GapPolicy;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #throttles = new LogThrottles<string>({ ...LOG_BOUND, now: Date.now });

  constructor(policy: GapPolicy, topics: Iterable<string>, metrics: Metrics, log: Log) {
    this.#policy = policy;
    this.#metrics = metrics;
    this.#log = log;
    this.know(topics);
  }

  /** @param topics that may have gaps from now on */
  know(topics: Iterable<string>): void {
    for (const topic of topics) {
      // Starts at 0: otherwise Prometheus would see no increase at a topic's first gap.
      this.#metrics.gaps.inc({ topic }, 0);
    }
  }

  /** @param groups all of the topic */
  tell(topic: string, groups: readonly Group[]): void {
    this.#tellUnless(this.#policy === 'ignore', topic, groups);
  }

  #tellUnless(isIgnored: boolean, topic: string, groups: readonly Group[]): void {
    this.#metrics.gaps.inc({ topic });
    const subscribers = groups.reduce((sum, { size }) => sum + size, 0);
    const reconnecting = isIgnored ? 0 : this.#tell(topic, groups);
    const suppressed = this.#throttles.admit(topic);
    if (suppressed === undefined) return;
    const told = isIgnored ? 0 : subscribers - reconnecting;
    this.#log.warn({ topic, subscribers, told, reconnecting, suppressed }, 'events may have been missed');
  }

  /** Tells subscribers that resume and are in no group yet: under every policy, as a client that resumes asks for it. */
  tellThese(topic: string, subscribers: readonly Subscriber[]): void {
    const tell: Group['tell'] = (result, isTold) => {
      for (const subscriber of subscribers) if (isTold(subscriber)) subscriber.deliver(result);
      return subscribers.filter((subscriber) => !isTold(subscriber));
    };
    this.#tellUnless(false, topic, [{ size: subscribers.length, tell }]);
  }

  /** @returns how many subscribers have to connect again */
  #tell(topic: string, groups: readonly Group[]): number {
    const result = new SerializedResult({ data: null, extensions: { gap: { topic, at: Date.now() } } });
    const isTold = ({ wantsGaps }: Subscriber): boolean => wantsGaps || this.#policy === 'tell';
    let reconnecting = 0;
    for (const group of groups) {
      const others = group.tell(result, isTold);
      for (const subscriber of others) subscriber.reconnect();
      reconnecting += others.length;
    }
    return reconnecting;
  }
}
