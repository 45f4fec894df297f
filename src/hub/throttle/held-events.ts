import type { EventScope } from '../../context/event-scope.ts';
import type { Message } from '../../events/message.ts';
import type { Audience } from '../audience.ts';
import type { Subscriber } from '../subscriber.ts';
import type { LeftOut } from '../result.ts';

/** An event, as it comes to a throttle. */
export interface ThrottledEvent {
  readonly message: Message;
  readonly scope: EventScope;
  /** The bytes of the message as it came. */
  readonly bytes: number;
  /** See `Group.dispatch`. */
  isRecorded: boolean;
}

/** An event that came before its interval was over. */
export interface HeldEvent extends ThrottledEvent {
  /** Its place among those of the interval. */
  readonly sequence: number;
  readonly key: string;
  /** The slots in which it is the latest event, by the values of the viewers; see `Bucket`. */
  readonly latest: Map<string, Slot>;
}

/** Called with an event that another one replaces, for viewers with these values. */
export type Superseded = (held: HeldEvent, values: string) => void;

/** The latest event of one key, for viewers with the same values. */
interface Slot {
  held: HeldEvent;
  arrivals: Arrivals;
}

/** The subscribers that one held event is for, and how many events it stands for. */
export interface Recipients {
  readonly subscribers: ReadonlySet<Subscriber>;
  /** All others of the group. */
  readonly excluded: readonly Iterable<Subscriber>[];
  /** Absent: it stands for no other event. */
  readonly leftOut?: LeftOutCounts;
}

/**
 * Most entries: slots, and the phases of each slot. With a filter by viewer there is a slot for each key and each of the
 * values that it reads.
 */
const MAX_ENTRIES = 65_536;

/** Approximate heap bytes of an entry, and of an event without its message. */
const ENTRY_BYTES = 128;
const EVENT_BYTES = 256;

/**
 * The events of one interval of a throttle: the latest of each key. With a filter by viewer, the latest event differs from
 * viewer to viewer.
 *
 * A subscriber that joins during the interval gets no earlier events. For this the interval is divided into phases: a new
 * phase begins with the first event after a subscriber has joined.
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
  /** The first phase of each subscriber that has joined during the interval. Made when it is needed. */
  #joined: Map<Subscriber, number> | undefined;
  #phase = 0;
  #hasNew = false;
  /** Slots, and the phases of each. */
  #entries = 0;
  #sequence = 0;
  #bytes = 0;
  readonly #grown: (bytes: number) => void;

  /** @param grown called with the bytes that are added, negative for bytes that are released */
  constructor(grown: (bytes: number) => void) {
    this.#grown = grown;
  }

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
    return this.#events.size >= maxEvents || this.#entries >= MAX_ENTRIES;
  }

  /**
   * @param values for which the event passes
   * @param superseded undefined while no one listens
   * @returns whether it supersedes another one
   */
  add(event: ThrottledEvent, key: string, values: readonly string[], superseded?: Superseded): boolean {
    if (this.#hasNew) this.#phase += 1;
    this.#hasNew = false;
    const held: HeldEvent = { ...event, key, sequence: this.#sequence, latest: new Map() };
    this.#sequence += 1;
    this.#events.add(held);
    this.#grow(held.bytes + EVENT_BYTES);
    let hasSuperseded = false;
    for (const one of values) {
      const slots = this.#slotsOf(one);
      const slot = slots.get(key) ?? { held, arrivals: new Arrivals() };
      if (slot.held !== held) {
        hasSuperseded = true;
        superseded?.(slot.held, one);
      }
      this.#put(slots, key, slot, held, one);
      if (slot.arrivals.add(this.#phase)) this.#addEntries(1);
    }
    return hasSuperseded;
  }

  /** Removes an event from those that are held. A later event does not stand for it. */
  take(held: HeldEvent): void {
    this.#remove(held);
    for (const [values, { arrivals }] of held.latest) {
      this.#slotsOf(values).delete(held.key);
      this.#addEntries(-arrivals.size);
    }
  }

  /** Nothing of it is held any more. */
  release(): void {
    this.#grow(-this.#bytes);
  }

  joined(subscriber: Subscriber): void {
    this.#joined ??= new Map();
    this.#joined.set(subscriber, this.#phase + 1);
    this.#hasNew = true;
  }

  left(subscriber: Subscriber): void {
    this.#joined?.delete(subscriber);
  }

  /** A viewer has other values now: events held for the old ones are held for the new ones too, if they pass. */
  moved(from: string, to: string, passes: (held: HeldEvent) => boolean): void {
    for (const [key, { held, arrivals }] of this.#slots.get(from) ?? []) {
      if (!passes(held)) continue;
      const slots = this.#slotsOf(to);
      const known = slots.get(key);
      if (known === undefined) {
        this.#put(slots, key, { held, arrivals: arrivals.copy() }, held, to);
        this.#addEntries(arrivals.size);
      } else if (known.held.sequence < held.sequence) {
        this.#put(slots, key, known, held, to);
        // The subscribers of the slot are gone: otherwise the slot would hold the later event too.
        this.#addEntries(arrivals.size - known.arrivals.size);
        known.arrivals = arrivals.copy();
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
      const all = slot.arrivals.since(0);
      leftOut.setAll(all - 1);
      if (this.#joined === undefined && held.latest.size === 1) {
        passing.push(subscribers);
        continue;
      }
      const chosen = new Set<Subscriber>();
      const late: Subscriber[] = [];
      for (const subscriber of subscribers) {
        const phase = this.#joined?.get(subscriber);
        const count = phase === undefined ? all : slot.arrivals.since(phase);
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
    if (!slots.has(key)) slots.set(key, slot);
    slot.held.latest.delete(values);
    if (slot.held !== held && slot.held.latest.size === 0) this.#remove(slot.held);
    slot.held = held;
    held.latest.set(values, slot);
  }

  #remove(held: HeldEvent): void {
    if (this.#events.delete(held)) this.#grow(-held.bytes - EVENT_BYTES);
  }

  #addEntries(count: number): void {
    this.#entries += count;
    this.#grow(count * ENTRY_BYTES);
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    this.#grown(bytes);
  }
}

/**
 * How many events of one key have come in an interval, in all and since a phase: see `HeldEvents`.
 *
 *     phase    0   0   2   5   5   5
 *     kept     0: none before   2: 2 before   5: 3 before   6 in all
 */
class Arrivals {
  #count = 0;
  /** The phases that have an event, in order. */
  readonly #phases: { readonly phase: number; readonly before: number }[] = [];

  /**
   * @param phase not before that of the last call
   * @returns whether it is the first event of the phase, which adds an entry
   */
  add(phase: number): boolean {
    const isFirst = this.#phases.at(-1)?.phase !== phase;
    if (isFirst) this.#phases.push({ phase, before: this.#count });
    this.#count += 1;
    return isFirst;
  }

  since(phase: number): number {
    let [low, high] = [0, this.#phases.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#phases[middle]?.phase ?? 0) < phase) low = middle + 1;
      else high = middle;
    }
    return this.#count - (this.#phases[low]?.before ?? this.#count);
  }

  copy(): Arrivals {
    const copy = new Arrivals();
    copy.#count = this.#count;
    copy.#phases.push(...this.#phases);
    return copy;
  }

  /** Phases with an event. */
  get size(): number {
    return this.#phases.length;
  }
}

/** How many events were left out for an event that supersedes them, by subscriber: some have joined after the first. */
class LeftOutCounts implements LeftOut {
  #same = 0;
  #others: Map<Subscriber, number> | undefined;

  /** For all but those of `set`. */
  setAll(count: number): void {
    this.#same = count;
  }

  set(subscriber: Subscriber, count: number): void {
    this.#others ??= new Map();
    this.#others.set(subscriber, count);
  }

  of(subscriber: Subscriber): number {
    return this.#others?.get(subscriber) ?? this.#same;
  }
}
