import { GraphQLError } from 'graphql';
import type { Metrics } from '../metrics.ts';
import { SerializedResult, type LeftOut } from './result.ts';
import type { Subscriber } from './subscriber.ts';

/** What one subscriber misses while it skips events. */
interface Gap {
  /** Sequence of the first event that is skipped. */
  readonly from: number;
  /** In order: numbers of skipped events, and the results that belong to no event between them. */
  readonly missed: (number | SerializedResult)[];
}

/** The part of DeliveryOrder that is asked how far subscribers are behind. */
interface Lags {
  /** Events that are for this subscriber and have not been delivered to it; counted up to `most`. */
  waitingOf(subscriber: Subscriber, most: number): number;
}

/**
 * Subscribers that have too many events waiting: they skip further ones until all that wait have been delivered, and are
 * told then how many they miss. The others of their group get every event.
 *
 *     events   1  2  3  4  5  6  7  8        at most 3 waiting
 *     ann      …  …  …  skipped  ^  8        1 to 3 are delivered before 8 begins: "4 events were skipped here"
 *     bob      1  2  3  4  5  6  7  8
 */
export class SkippedEvents {
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #maxWaiting: number;
  readonly #metrics: Metrics;
  /** Made when it is needed. */
  #gaps: Map<Subscriber, Gap> | undefined;
  /** Sequence of the first event at which a subscriber can have too many waiting. */
  #checkAt = 0;
  /** Subscribers that have waited for the same execution miss the same number. */
  #lastTold: { readonly count: number; readonly result: SerializedResult } | undefined;

  /**
   * @param subscribers all of the group, now and later
   * @param maxWaiting most events of one subscriber that wait
   */
  constructor(subscribers: ReadonlySet<Subscriber>, maxWaiting: number, metrics: Metrics) {
    this.#subscribers = subscribers;
    this.#maxWaiting = maxWaiting;
    this.#metrics = metrics;
  }

  /**
   * An event begins: subscribers at the bound skip from here on. The check looks at all subscribers, so it is left out for
   * as many events as the subscriber furthest behind has room for.
   *
   * @param pending events that began before and may wait
   */
  check(lags: Lags, sequence: number, pending: number): void {
    if (pending < this.#maxWaiting || sequence < this.#checkAt) return;
    let most = 0;
    for (const subscriber of this.#subscribers) {
      if (this.#gaps?.has(subscriber) === true) continue;
      const waiting = lags.waitingOf(subscriber, this.#maxWaiting);
      if (waiting < this.#maxWaiting) {
        most = Math.max(most, waiting);
      } else {
        this.#gaps ??= new Map();
        this.#gaps.set(subscriber, { from: sequence, missed: [] });
      }
    }
    this.#checkAt = sequence + this.#maxWaiting - most;
  }

  /** Sequence of the event from which the subscriber skips; infinite if it does not. */
  from(subscriber: Subscriber): number {
    return this.#gaps?.get(subscriber)?.from ?? Infinity;
  }

  /** Whether events that begin now are not for the subscriber. */
  isSkipping(subscriber: Subscriber): boolean {
    return this.#gaps?.has(subscriber) ?? false;
  }

  /**
   * Counts an event for those of its subscribers that skip it.
   *
   * @param leftOut the events that it supersedes
   */
  count(subscribers: ReadonlySet<Subscriber>, leftOut?: LeftOut): void {
    if (this.#gaps === undefined) return;
    let skipped = false;
    for (const [subscriber, { missed }] of this.#gaps) {
      if (!subscribers.has(subscriber)) continue;
      skipped = true;
      const events = 1 + (leftOut?.of(subscriber) ?? 0);
      const last = missed.at(-1);
      if (typeof last === 'number') missed[missed.length - 1] = last + events;
      else missed.push(events);
    }
    if (skipped) this.#metrics.groupOverflows.inc();
  }

  /**
   * Keeps a result that belongs to no event until the subscriber has been told of the events skipped before it.
   *
   * @returns false if the subscriber skips nothing
   */
  keep(subscriber: Subscriber, result: SerializedResult): boolean {
    const gap = this.#gaps?.get(subscriber);
    gap?.missed.push(result);
    return gap !== undefined;
  }

  /** The subscriber has got all that waited, and skips nothing any more. @returns the results that tell it so */
  end(subscriber: Subscriber): readonly SerializedResult[] {
    const missed = this.#gaps?.get(subscriber)?.missed ?? [];
    this.left(subscriber);
    return missed.map((piece) => (typeof piece === 'number' ? this.#telling(piece) : piece));
  }

  left(subscriber: Subscriber): void {
    this.#gaps?.delete(subscriber);
    if (this.#gaps?.size === 0) this.#gaps = undefined;
  }

  #telling(count: number): SerializedResult {
    if (this.#lastTold?.count !== count) {
      const message = `${count} events were skipped here: they came faster than they could be executed.`;
      const errors = [new GraphQLError(message, { extensions: { code: 'EVENTS_SKIPPED', skipped: count } })];
      this.#lastTold = { count, result: new SerializedResult({ errors }) };
    }
    return this.#lastTold.result;
  }
}
