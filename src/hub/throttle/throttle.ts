import type { Message } from '../../events/message.ts';
import type { Delivery } from '../../graph/graph.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Metrics } from '../../metrics.ts';
import type { Timers } from '../../support/clock.ts';
import type { Audience } from '../audience.ts';
import type { DispatchWork } from '../dispatch-work.ts';
import type { GroupTrace } from '../group-trace.ts';
import type { Subscriber } from '../subscriber.ts';
import { UNITS, type WorkBudget } from '../work-budget.ts';
import type { DueThrottles } from './due-throttles.ts';
import type { HeldBytes } from '../../support/held-bytes.ts';
import {
  HeldEvents,
  type HeldEvent,
  type Recipients,
  type Superseded,
  type ThrottledEvent,
} from './held-events.ts';

interface ThrottleOptions extends Delivery {
  readonly audience: Audience;
  /** Holds all events until they are flushed: missed events come at once, except those that are superseded. */
  readonly isReplay: boolean;
  /** Most events that are held. */
  readonly maxHeld: number;
  /** Whether an event that begins now would not be skipped. */
  readonly hasRoom: () => boolean;
  /** Calls back once there is room. */
  readonly whenRoom: (callback: () => void) => void;
  /** Bounds what all throttles hold. */
  readonly heldBytes: HeldBytes<Throttle>;
  readonly dueThrottles: DueThrottles;
  readonly timers: Timers;
  readonly budget: WorkBudget;
  readonly work: DispatchWork;
  readonly metrics: Metrics;
  /** Executes an event, in this call or later. */
  readonly begin: (held: HeldEvent, recipients: Recipients) => void;
  /** Traces an event that does not begin at once. Undefined while no one listens, which is the usual case. */
  readonly traceOf: (message: Message) => GroupTrace | undefined;
}

/**
 * Lets through one event of each key in an interval at most, the latest, and only this one is executed. All keys and
 * subscribers of a group have the same intervals, so they share executions and get events in order of arrival.
 *
 *     interval      ├──────────────┼──────────────┤
 *     events     a1     a2 b1 a3     b2
 *     delivered  a1                b1 a3          b2      a3 stands for a2
 *
 * The first event after a whole interval without any is let through at once, and begins an interval.
 */
export class Throttle {
  readonly #options: ThrottleOptions;
  #held: HeldEvents | undefined;
  /** The events of a past interval that have not begun yet. */
  #due: HeldEvents | undefined;
  /** Cancels the timer of the interval that runs. */
  #cancelTimer: (() => void) | undefined;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /** @returns whether it is to be executed now; else it is held, or the filter lets it through for no subscriber */
  take(event: ThrottledEvent): boolean {
    const { audience, heldBytes, isReplay, keyOf, maxHeld, metrics, traceOf, work } = this.#options;
    const { message } = event;
    const values: string[] = [];
    for (const { values: some, subscribers } of audience.buckets) {
      const [first] = subscribers;
      if (first !== undefined && audience.passes(message.event, first.viewer, event.bytes)) values.push(some);
    }
    if (values.length === 0) {
      if (audience.subscribers.size > 0) work.rejected();
      traceOf(message)?.filtered(audience.subscribers);
      return false;
    }
    if (this.#cancelTimer === undefined && !isReplay) {
      this.#startInterval();
      // What is still due comes first.
      if (this.#due === undefined) return true;
    }
    work.spend(UNITS.group);
    this.#held ??= new HeldEvents((bytes) => heldBytes.grow(this, bytes));
    const superseded = this.#traceHeld(message, values);
    if (this.#held.add(event, keyOf(message.event), values, superseded)) metrics.throttledEvents.inc();
    if (this.#held.isFull(maxHeld)) this.#makeRoom();
    heldBytes.limit();
    return false;
  }

  /** Begins the next event that is due. @returns false if there is none for now */
  beginNext(): boolean {
    const { hasRoom, whenRoom, dueThrottles } = this.#options;
    const held = this.#due?.first;
    if (this.#due === undefined || held === undefined) {
      this.#dropDue();
      return false;
    }
    if (!hasRoom()) {
      whenRoom(() => dueThrottles.add(this));
      return false;
    }
    this.#begin(held, this.#due);
    return true;
  }

  joined(subscriber: Subscriber): void {
    this.#held?.joined(subscriber);
    this.#due?.joined(subscriber);
  }

  left(subscriber: Subscriber): void {
    this.#held?.left(subscriber);
    this.#due?.left(subscriber);
    if (this.#options.audience.subscribers.size === 0) this.#stop();
  }

  viewerChanged(previous: Json, viewer: Json): void {
    const { audience } = this.#options;
    const [from, to] = [audience.valuesIn(previous), audience.valuesIn(viewer)];
    if (from === to) return;
    const passes = ({ message, bytes }: HeldEvent): boolean => audience.passes(message.event, viewer, bytes);
    this.#held?.moved(from, to, passes);
    this.#due?.moved(from, to, passes);
  }

  /** Executes all held events. */
  flush(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next())
      this.#begin(next.held, next.interval);
    this.#restartInterval();
  }

  /**
   * Gives one subscriber alone the events that are held for it.
   *
   * @param begin executes an event
   */
  handOver(subscriber: Subscriber, begin: (held: HeldEvent, recipients: Recipients) => void): void {
    const buckets = [
      {
        values: this.#options.audience.valuesIn(subscriber.viewer),
        subscribers: new Set([subscriber]),
      },
    ];
    for (const interval of [this.#due, this.#held]) {
      for (const held of interval?.events ?? []) {
        const recipients = interval?.recipientsOf(held, { buckets });
        if (recipients === undefined || recipients.subscribers.size === 0) continue;
        // The other subscribers use its result, too.
        held.isRecorded = true;
        begin(held, recipients);
      }
      interval?.joined(subscriber);
    }
  }

  /**
   * Traces that an event is held.
   *
   * @param values for which it passes
   * @returns traces an event that it supersedes; undefined while no one listens
   */
  #traceHeld(message: Message, values: readonly string[]): Superseded | undefined {
    const { audience, traceOf } = this.#options;
    const trace = traceOf(message);
    if (trace === undefined) return undefined;
    const passing = new Map(
      audience.buckets
        .filter((bucket) => values.includes(bucket.values))
        .map((bucket) => [bucket.values, bucket.subscribers]),
    );
    trace.held(audience.subscribers, new Set([...passing.values()].flatMap((some) => [...some])));
    return (earlier, one) =>
      traceOf(earlier.message)?.superseded(passing.get(one) ?? new Set<Subscriber>(), message);
  }

  /** Too many are held: the oldest one begins, even if it is skipped, and all others for which there is room. */
  #makeRoom(): void {
    const { hasRoom } = this.#options;
    do {
      const next = this.#next();
      if (next === undefined) break;
      this.#begin(next.held, next.interval);
    } while (hasRoom());
    if (this.#held === undefined && this.#due === undefined) this.#restartInterval();
  }

  #restartInterval(): void {
    if (this.#cancelTimer === undefined) return;
    this.#cancelTimer();
    this.#startInterval();
  }

  #startInterval(): void {
    const { timers, throttleMs } = this.#options;
    this.#cancelTimer = timers.after(throttleMs, () => this.#tick());
  }

  #tick(): void {
    this.#cancelTimer = undefined;
    if (this.#held === undefined) return;
    this.#startInterval();
    // What is still due takes the turns that it needs, and comes first.
    if (this.#due !== undefined) return;
    this.#due = this.#held;
    this.#held = undefined;
    this.#options.dueThrottles.add(this);
  }

  #next(): { readonly held: HeldEvent; readonly interval: HeldEvents } | undefined {
    for (const interval of [this.#due, this.#held]) {
      const held = interval?.first;
      if (interval !== undefined && held !== undefined) return { held, interval };
    }
    this.#drop();
    return undefined;
  }

  #begin(held: HeldEvent, interval: HeldEvents): void {
    interval.take(held);
    this.#options.budget.spend(UNITS.message);
    this.#options.begin(held, interval.recipientsOf(held, this.#options.audience));
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#drop();
  }

  #drop(): void {
    this.#dropDue();
    this.#held?.release();
    this.#held = undefined;
  }

  #dropDue(): void {
    this.#due?.release();
    this.#due = undefined;
  }
}
