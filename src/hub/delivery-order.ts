import type { Log } from '../log.ts';
import type { GroupTrace } from './group-trace.ts';
import type { Metrics } from '../metrics.ts';
import type { LeftOut, SerializedResult } from './result.ts';
import type { SkippedEvents } from './skipped-events.ts';
import type { Subscriber } from './subscriber.ts';
import { UNITS, type EventTimes, type WorkBudget } from './work-budget.ts';

/** One event on its way to a group's subscribers. */
export interface PendingEvent {
  readonly sequence: number;
  /** Results of subscribers that still wait for an earlier event; undefined: the event is not for them. */
  held: Map<Subscriber, SerializedResult | undefined> | undefined;
  /** Subscribers settled before it was tracked, while this was the only event pending. */
  readonly untracked: Iterable<Subscriber>[];
  /** Whether each subscriber's next event is recorded. */
  tracked: boolean;
  done: boolean;
  /** Counts the events that it supersedes, for its results to report. */
  readonly leftOut: LeftOut | undefined;
  /** Undefined: it is not traced. */
  trace: GroupTrace | undefined;
}

/** Until fewer events than `limit` are pending. */
interface Wait {
  readonly limit: number;
  readonly callback: () => void;
}

export interface DeliveryServices {
  readonly budget: WorkBudget;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Brings results to subscribers in the order of the events, though executions end in any order and some subscribers are
 * settled long before others.
 *
 *     events   1      2      3     pending, oldest first
 *     ann      ✓      ✓      …     next is 3
 *     bob      …      held         next is 1: what 2 has for him waits
 *
 * As long as each event is done before the next one begins, none of this is recorded: results are delivered at once.
 *
 * While a subscriber waits for an execution, only its own results are kept. An event that the others have got leaves an
 * empty place of 8 bytes until the oldest event is done.
 */
export class DeliveryOrder {
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #services: DeliveryServices;
  readonly #skipped: SkippedEvents;
  /** Sequence of the oldest pending event, or of the next one to come. */
  #first = 1;
  /** From the oldest on; undefined: done, and held for no subscriber. */
  #pending: (PendingEvent | undefined)[] = [];
  #size = 0;
  /** Sequence of the event that a subscriber waits for, where that is not the oldest one. Made when it is needed. */
  #next: Map<Subscriber, number> | undefined;
  /** Callers that wait for room. Made when needed. */
  #waits: Wait[] | undefined;
  /** Deliveries that are not counted yet. */
  #delivered = 0;

  /** @param subscribers all of the group, now and later: one that has left gets nothing more */
  constructor(subscribers: ReadonlySet<Subscriber>, skipped: SkippedEvents, services: DeliveryServices) {
    this.#subscribers = subscribers;
    this.#skipped = skipped;
    this.#services = services;
  }

  /** Events pending: being executed, or held for a subscriber that waits for an earlier one. */
  get size(): number {
    return this.#size;
  }

  /** Events from the oldest one that is pending to the last one. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Calls back once, as soon as `pending` is below `limit`: immediately if it is below now. */
  whenBelow(limit: number, callback: () => void): void {
    if (this.#pending.length < limit) {
      callback();
      return;
    }
    this.#waits ??= [];
    this.#waits.push({ limit, callback });
  }

  /** Sequence of the next event to begin. */
  get #end(): number {
    return this.#first + this.#pending.length;
  }

  /** Events that are for this subscriber and have not been delivered to it; counted up to `most`. */
  waitingOf(subscriber: Subscriber, most: number): number {
    let waiting = 0;
    for (let sequence = this.#nextOf(subscriber); sequence < this.#end && waiting < most; sequence += 1) {
      const at = this.#pending[sequence - this.#first];
      const settled = at?.held?.has(subscriber) ?? false;
      if (settled ? at?.held?.get(subscriber) !== undefined : at?.done === false) waiting += 1;
    }
    return waiting;
  }

  /** Sequences of the oldest and the newest pending event; `last` is below `first` if none is pending. */
  get pendingSequences(): { first: number; last: number } {
    return { first: this.#first, last: this.#first + this.#pending.length - 1 };
  }

  /** A subscriber has joined: it gets the events that begin from now on. */
  joined(subscriber: Subscriber): void {
    if (this.#pending.length > 0) this.#setNext(subscriber, this.#end);
  }

  left(subscriber: Subscriber): void {
    this.#skipped.left(subscriber);
    for (let sequence = this.#nextOf(subscriber); sequence < this.#end; sequence += 1) {
      const at = this.#pending[sequence - this.#first];
      if (at?.held?.delete(subscriber) === true) this.#dropIfOver(at);
    }
    this.#next?.delete(subscriber);
  }

  begin(leftOut?: LeftOut): PendingEvent {
    const sequence = this.#end;
    this.#skipped.check(this, sequence, this.#pending.length);
    const event: PendingEvent = {
      sequence,
      held: undefined,
      untracked: [],
      tracked: sequence > this.#first,
      done: false,
      leftOut,
      trace: undefined,
    };
    this.#pending.push(event);
    this.#size += 1;
    return event;
  }

  /** Whether the subscriber still has to get this event: not if it has left, has joined after it, or skips it. */
  isPending({ tracked, sequence }: PendingEvent, subscriber: Subscriber): boolean {
    if (!this.#subscribers.has(subscriber)) return false;
    if (!tracked) return true;
    return this.#nextOf(subscriber) <= sequence && sequence < this.#skipped.from(subscriber);
  }

  /**
   * Gives these subscribers this result. Each subscriber that the event began with must be settled or excluded.
   *
   * @param times of the event; undefined if the result belongs to no event
   */
  settle(
    event: PendingEvent,
    subscribers: Iterable<Subscriber>,
    result: SerializedResult,
    times: EventTimes | undefined,
  ): void {
    const { metrics, budget } = this.#services;
    const told = event.leftOut === undefined ? result : result.standingFor(event.leftOut);
    if (event.tracked) {
      for (const subscriber of subscribers) this.#settleTracked(event, subscriber, told);
    } else {
      event.untracked.push(subscribers);
      for (const subscriber of subscribers) this.#deliver(subscriber, told);
      if (event.trace !== undefined) this.#traceDelivered(event.trace, subscribers, result);
    }
    const delivered = this.#delivered;
    this.#delivered = 0;
    metrics.deliveries.inc(delivered);
    budget.spend(delivered + result.json.length * UNITS.byte);
    if (delivered > 0 && times !== undefined) budget.timed(times);
    const span = delivered > 0 ? event.trace?.writing(delivered) : undefined;
    if (span !== undefined) budget.traced(span);
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
    // From now on a subscriber that finds nothing held for it knows that the event is not for it.
    if (event.held !== undefined) {
      for (const [subscriber, result] of event.held) if (result === undefined) event.held.delete(subscriber);
    }
    this.#dropIfOver(event);
  }

  #settleTracked(event: PendingEvent, subscriber: Subscriber, settled: SerializedResult | undefined): void {
    if (!this.isPending(event, subscriber)) return;
    if (this.#nextOf(subscriber) < event.sequence) {
      event.held ??= new Map();
      event.held.set(subscriber, settled);
      return;
    }
    if (settled !== undefined) this.#deliverOf(event, subscriber, settled);
    this.#advance(subscriber, event.sequence + 1);
  }

  /** Delivers the results that waited for the event before `next`. */
  #advance(subscriber: Subscriber, next: number): void {
    const skipped = this.#skipped.from(subscriber);
    for (; next < this.#end && next < skipped; next += 1) {
      const at = this.#pending[next - this.#first];
      if (at?.held?.has(subscriber) === true) {
        const result = at.held.get(subscriber);
        at.held.delete(subscriber);
        this.#dropIfOver(at);
        if (result !== undefined) this.#deliverOf(at, subscriber, result);
      } else if (at?.done === false) {
        break;
      }
    }
    if (next === skipped) {
      for (const result of this.#skipped.end(subscriber)) this.#deliver(subscriber, result);
      next = this.#end;
    }
    // Unless a delivery has ended its connection.
    if (this.#subscribers.has(subscriber)) this.#setNext(subscriber, next);
  }

  #dropIfOver({ sequence, done, held }: PendingEvent): void {
    if (!done || (held !== undefined && held.size > 0)) return;
    this.#pending[sequence - this.#first] = undefined;
    this.#size -= 1;
    while (this.#pending.length > 0 && this.#pending[0] === undefined) {
      this.#pending.shift();
      this.#first += 1;
    }
    if (this.#pending.length === 0) this.#next = undefined;
    if (this.#waits !== undefined) this.#callBack(this.#waits);
  }

  /** Calls back after the delivery that has made room. */
  #callBack(waits: readonly Wait[]): void {
    const rest: Wait[] = [];
    for (const wait of waits) {
      if (this.#pending.length < wait.limit) queueMicrotask(wait.callback);
      else rest.push(wait);
    }
    this.#waits = rest.length > 0 ? rest : undefined;
  }

  #nextOf(subscriber: Subscriber): number {
    return this.#next?.get(subscriber) ?? this.#first;
  }

  #setNext(subscriber: Subscriber, sequence: number): void {
    this.#next ??= new Map();
    this.#next.set(subscriber, sequence);
  }

  #deliverOf({ trace }: PendingEvent, subscriber: Subscriber, result: SerializedResult): void {
    this.#deliver(subscriber, result);
    if (trace !== undefined) this.#traceDelivered(trace, [subscriber], result);
  }

  #traceDelivered(trace: GroupTrace, subscribers: Iterable<Subscriber>, result: SerializedResult): void {
    const written = trace.delivered(subscribers, result);
    if (written !== undefined) this.#services.budget.traced(written);
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
