import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { SerializedResult } from './result.ts';
import type { Subscriber } from './subscriber.ts';
import { UNITS, type EventTimes, type WorkBudget } from './work-budget.ts';

/** One event on its way to a group's subscribers. */
export interface PendingEvent {
  readonly sequence: number;
  /** Results of subscribers that still wait for an earlier event; undefined: the event is not for them. */
  held: Map<Subscriber, SerializedResult | undefined> | undefined;
  /** Subscribers settled before it was tracked, while this was the only event pending. */
  readonly untracked: Iterable<Subscriber>[];
  /** Whether it is recorded for each subscriber which event comes next. */
  tracked: boolean;
  done: boolean;
}

interface DeliveryServices {
  readonly budget: WorkBudget;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Brings results to subscribers in the order of the events, though executions end in any order and some subscribers
 * are settled long before others.
 *
 *     events   1      2      3     pending, oldest first
 *     ann      ✓      ✓      …     next is 3
 *     bob      …      held         next is 1: what 2 has for him waits
 *
 * As long as each event is done before the next one begins, none of this is recorded: results are delivered at once.
 */
export class DeliveryOrder {
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #services: DeliveryServices;
  /** Sequence of the oldest pending event, or of the next one to come. */
  #first = 1;
  #pending: PendingEvent[] = [];
  /** Sequence of the event that a subscriber waits for, where that is not the oldest one. Made when it is needed. */
  #next: Map<Subscriber, number> | undefined;
  /** Deliveries that are not counted yet. */
  #delivered = 0;

  /** @param subscribers all of the group, now and later: one that has left gets nothing more */
  constructor(subscribers: ReadonlySet<Subscriber>, services: DeliveryServices) {
    this.#subscribers = subscribers;
    this.#services = services;
  }

  /** Events pending. */
  get size(): number {
    return this.#pending.length;
  }

  /** Sequences of the oldest and the newest event that is pending; the newest is the lower one if none is. */
  get pendingSequences(): { first: number; last: number } {
    return { first: this.#first, last: this.#first + this.#pending.length - 1 };
  }

  /** A subscriber has joined: it gets the events that begin from now on. */
  joined(subscriber: Subscriber): void {
    if (this.#pending.length > 0) this.#setNext(subscriber, this.#first + this.#pending.length);
  }

  left(subscriber: Subscriber): void {
    this.#next?.delete(subscriber);
    for (const { held } of this.#pending) held?.delete(subscriber);
  }

  begin(): PendingEvent {
    const sequence = this.#first + this.#pending.length;
    const event: PendingEvent = {
      sequence,
      held: undefined,
      untracked: [],
      tracked: sequence > this.#first,
      done: false,
    };
    this.#pending.push(event);
    return event;
  }

  /** Whether the subscriber still has to get this event: not if it has left, or has joined after it. */
  isPending(event: PendingEvent, subscriber: Subscriber): boolean {
    if (!this.#subscribers.has(subscriber)) return false;
    return !event.tracked || this.#nextOf(subscriber) <= event.sequence;
  }

  /**
   * These subscribers get this result. Each subscriber of the event's beginning must be settled, or excluded.
   *
   * @param times of the event; undefined: the result is of none
   */
  settle(
    event: PendingEvent,
    subscribers: Iterable<Subscriber>,
    result: SerializedResult,
    times: EventTimes | undefined,
  ): void {
    const { metrics, budget } = this.#services;
    if (event.tracked) {
      for (const subscriber of subscribers) this.#settleTracked(event, subscriber, result);
    } else {
      event.untracked.push(subscribers);
      for (const subscriber of subscribers) this.#deliver(subscriber, result);
    }
    const delivered = this.#delivered;
    this.#delivered = 0;
    metrics.deliveries.inc(delivered);
    budget.spend(delivered + result.json.length * UNITS.byte);
    if (delivered > 0 && times !== undefined) budget.timed(times);
  }

  /** The event is not for these subscribers. */
  exclude(event: PendingEvent, subscribers: Iterable<Subscriber>): void {
    if (!event.tracked) event.untracked.push(subscribers);
    else for (const subscriber of subscribers) this.#settleTracked(event, subscriber, undefined);
  }

  /** The turn is over and the event is not done: from now on it is recorded which subscribers are settled. */
  track(event: PendingEvent): void {
    if (event.tracked) return;
    event.tracked = true;
    for (const subscribers of event.untracked) {
      for (const subscriber of subscribers) this.#setNext(subscriber, event.sequence + 1);
    }
    event.untracked.length = 0;
  }

  /** All subscribers of this event are settled or excluded. */
  end(event: PendingEvent): void {
    event.done = true;
    while (this.#pending[0]?.done === true) {
      this.#pending.shift();
      this.#first += 1;
    }
    if (this.#pending.length === 0) this.#next = undefined;
  }

  #settleTracked(event: PendingEvent, subscriber: Subscriber, settled: SerializedResult | undefined): void {
    let next = this.#nextOf(subscriber);
    if (event.sequence < next || !this.#subscribers.has(subscriber)) return;
    event.held ??= new Map();
    event.held.set(subscriber, settled);
    for (let at = this.#pending[next - this.#first]; at?.held?.has(subscriber) === true;) {
      const result = at.held.get(subscriber);
      at.held.delete(subscriber);
      next += 1;
      this.#setNext(subscriber, next);
      if (result !== undefined) this.#deliver(subscriber, result);
      at = this.#pending[next - this.#first];
    }
  }

  #nextOf(subscriber: Subscriber): number {
    return this.#next?.get(subscriber) ?? this.#first;
  }

  #setNext(subscriber: Subscriber, sequence: number): void {
    this.#next ??= new Map();
    this.#next.set(subscriber, sequence);
  }

  #deliver(subscriber: Subscriber, result: SerializedResult): void {
    try {
      subscriber.deliver(result);
      this.#delivered += 1;
    } catch (error) {
      this.#services.log.error({ err: error }, 'a delivery failed');
    }
  }
}
