import type { EventScope } from '../../context/event-scope.ts';
import type { Message } from '../../events/message.ts';
import type { Audience } from '../audience.ts';
import type { Subscriber } from '../subscriber.ts';
import { LeftOutCounts } from './left-out.ts';

/** An event that has come before its interval is over. */
export interface HeldEvent {
  readonly message: Message;
  readonly scope: EventScope;
  /** See `Group.dispatch`. */
  isRecorded: boolean;
  /** Of which it is the latest, by the values of the viewers: see `Bucket`. */
  readonly latest: Map<string, Slot>;
}

/** The latest event of one key, for viewers with the same values. */
interface Slot {
  held: HeldEvent;
  /** How many events have come, by the phase in which they came. */
  readonly arrivals: { readonly phase: number; count: number }[];
}

/** Those that one held event is for, and what it stands for. */
export interface Recipients {
  readonly subscribers: ReadonlySet<Subscriber>;
  /** All others of the group. */
  readonly excluded: readonly Iterable<Subscriber>[];
  readonly leftOut: LeftOutCounts;
}

/** Beyond it no more are held. A filter by viewer has one for each key and each of the values that it reads. */
const MAX_SLOTS = 65_536;

/**
 * What one interval of a throttle has had: the latest event of each key. With a filter by viewer the latest one differs
 * from viewer to viewer.
 *
 * A subscriber that joins in the course of the interval gets none of the events before. For that the interval is divided
 * into phases: a new one begins with the first event after a subscriber has joined.
 *
 *     events of a key   1   2       3   4
 *     phase             0   0       1   1
 *     ann                               4, which stands for 1, 2 and 3
 *     bob                     joins     4, which stands for 3
 */
export class HeldEvents {
  readonly #slots = new Map<string, Map<string, Slot>>();
  /** In the order in which they came. */
  readonly #events = new Set<HeldEvent>();
  /** The first phase of those that have joined in the course of the interval. Made when it is needed. */
  #joined: Map<Subscriber, number> | undefined;
  #phase = 0;
  #hasNew = false;
  #size = 0;

  /** In the order in which they came. */
  get events(): readonly HeldEvent[] {
    return [...this.#events];
  }

  /** The one that has come first. */
  get first(): HeldEvent | undefined {
    const [first] = this.#events;
    return first;
  }

  /** @param maxEvents that may be held */
  isFull(maxEvents: number): boolean {
    return this.#events.size >= maxEvents || this.#size >= MAX_SLOTS;
  }

  /**
   * @param values for which the event passes
   * @returns whether it supersedes another one
   */
  add(event: Omit<HeldEvent, 'latest'>, key: string, values: readonly string[]): boolean {
    if (this.#hasNew) this.#phase += 1;
    this.#hasNew = false;
    const held: HeldEvent = { ...event, latest: new Map() };
    this.#events.add(held);
    let hasSuperseded = false;
    for (const one of values) {
      const slots = this.#slotsOf(one);
      const slot = slots.get(key) ?? { held, arrivals: [] };
      if (slot.held !== held) hasSuperseded = true;
      this.#put(slots, key, slot, held, one);
      const last = slot.arrivals.at(-1);
      if (last?.phase === this.#phase) last.count += 1;
      else slot.arrivals.push({ phase: this.#phase, count: 1 });
    }
    return hasSuperseded;
  }

  /** Takes an event from those that are held. */
  remove(held: HeldEvent): void {
    this.#events.delete(held);
  }

  joined(subscriber: Subscriber): void {
    this.#joined ??= new Map();
    this.#joined.set(subscriber, this.#phase + 1);
    this.#hasNew = true;
  }

  left(subscriber: Subscriber): void {
    this.#joined?.delete(subscriber);
  }

  /** A subscriber's viewer has other values from now on: what was held for it is held for these too, if they pass. */
  moved(from: string, to: string, passes: (held: HeldEvent) => boolean): void {
    const order = this.events;
    for (const [key, { held, arrivals }] of this.#slots.get(from) ?? []) {
      if (!passes(held)) continue;
      const slots = this.#slotsOf(to);
      const known = slots.get(key);
      if (known === undefined) {
        this.#put(slots, key, { held, arrivals: arrivals.map((one) => ({ ...one })) }, held, to);
      } else if (order.indexOf(known.held) < order.indexOf(held)) {
        this.#put(slots, key, known, held, to);
      }
    }
  }

  recipientsOf(held: HeldEvent, { buckets }: Pick<Audience, 'buckets'>): Recipients {
    const passing: ReadonlySet<Subscriber>[] = [];
    const excluded: Iterable<Subscriber>[] = [];
    const leftOut = new LeftOutCounts();
    for (const { values, subscribers } of buckets) {
      const slot = held.latest.get(values);
      if (slot === undefined) {
        excluded.push(subscribers);
        continue;
      }
      const all = arrivedIn(slot, 0);
      leftOut.setAll(all - 1);
      if (this.#joined === undefined && held.latest.size === 1) {
        passing.push(subscribers);
        continue;
      }
      const chosen = new Set<Subscriber>();
      const late: Subscriber[] = [];
      for (const subscriber of subscribers) {
        const phase = this.#joined?.get(subscriber);
        const count = phase === undefined ? all : arrivedIn(slot, phase);
        if (count === 0) {
          late.push(subscriber);
          continue;
        }
        chosen.add(subscriber);
        if (phase !== undefined || held.latest.size > 1) leftOut.set(subscriber, count - 1);
      }
      passing.push(late.length === 0 ? subscribers : chosen);
      if (late.length > 0) excluded.push(late);
    }
    const [only] = passing;
    const isOne = passing.length === 1 && only !== undefined;
    return {
      subscribers: isOne ? only : new Set(passing.flatMap((some) => [...some])),
      excluded,
      leftOut,
    };
  }

  #slotsOf(values: string): Map<string, Slot> {
    const slots = this.#slots.get(values) ?? new Map<string, Slot>();
    this.#slots.set(values, slots);
    return slots;
  }

  #put(slots: Map<string, Slot>, key: string, slot: Slot, held: HeldEvent, values: string): void {
    if (!slots.has(key)) {
      slots.set(key, slot);
      this.#size += 1;
    }
    slot.held.latest.delete(values);
    if (slot.held !== held && slot.held.latest.size === 0) this.#events.delete(slot.held);
    slot.held = held;
    held.latest.set(values, slot);
  }
}

function arrivedIn({ arrivals }: Slot, phase: number): number {
  return arrivals.reduce((sum, one) => (one.phase >= phase ? sum + one.count : sum), 0);
}
