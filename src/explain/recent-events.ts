/** An event that is kept until later ones of its topic need its room. */
export interface KeptEvent {
  readonly partition: number;
  readonly offset: number;
  /** When the process met it: ms since 1970. */
  readonly at: number;
  /** Approximate bytes that the event takes. */
  bytes: number;
}

/** A power of two: slots are found by a mask. */
const MAX_EVENTS = 64;

const SLOT = MAX_EVENTS - 1;

/** For one more topic, the topic that was met first is dropped. */
const MAX_TOPICS = 4_096;

/**
 * The last events of one topic, in a ring of slots: 64 of them, or as many as there is room for.
 *
 *     slots    │ 64 │ 65 │ 66 │  3 │  4 │ …
 *                          end ┘└ begin
 */
export class TopicEvents<Kept extends KeptEvent> {
  readonly #slots: (Kept | undefined)[] = [];
  #begin = 0;
  #end = 0;
  /** Index of the event that was found last: the event that is looked for next mostly follows it. */
  #found = -1;
  #bytes = 0;
  #room = 0;
  /** The highest offset that each partition has had. */
  readonly #highest = new Map<number, number>();
  /** From this index on, events of each partition are in the order of their offsets, as they mostly are. */
  #inOrderFrom = 0;
  /** All events that were met after this time are here. ms since 1970 */
  since: number;

  constructor(since: number) {
    this.since = since;
  }

  get size(): number {
    return this.#end - this.#begin;
  }

  /** Bytes that all events of the topic may take together. */
  get room(): number {
    return this.#room;
  }

  set room(bytes: number) {
    this.#room = bytes;
    this.#limit();
  }

  /** @returns the last event of this offset: a topic that is created anew, or read again, has the offset twice */
  find(partition: number, offset: number): Kept | undefined {
    // Most events are looked for when they come.
    if (offset > (this.#highest.get(partition) ?? -1)) return undefined;
    if (this.#inOrderFrom <= this.#begin) {
      const first = this.#slots[this.#begin & SLOT];
      // Most events of a large chunk have been dropped by the time that the chunk has been published.
      if (first?.partition === partition && offset < first.offset) return undefined;
      if (this.#isAt(this.#found + 1, partition, offset)) return this.#slots[++this.#found & SLOT];
    }
    for (let index = this.#end - 1; index >= this.#begin; index -= 1) {
      if (this.#isAt(index, partition, offset)) return this.#slots[(this.#found = index) & SLOT];
    }
    return undefined;
  }

  add(kept: Kept): void {
    if (this.size === MAX_EVENTS) this.#drop();
    if (kept.offset > (this.#highest.get(kept.partition) ?? -1))
      this.#highest.set(kept.partition, kept.offset);
    else this.#inOrderFrom = this.#end + 1;
    this.#slots[this.#end & SLOT] = kept;
    this.#end += 1;
    this.#bytes += kept.bytes;
    if (this.#bytes > this.#room) this.#limit();
  }

  /** Sets the bytes that one of the events takes. */
  resize(kept: Kept, bytes: number): void {
    this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    this.#limit();
  }

  /** The last event comes first. */
  *[Symbol.iterator](): Iterator<Kept> {
    for (let index = this.#end - 1; index >= this.#begin; index -= 1) {
      const kept = this.#slots[index & SLOT];
      if (kept !== undefined) yield kept;
    }
  }

  #isAt(index: number, partition: number, offset: number): boolean {
    if (index < this.#begin || index >= this.#end) return false;
    const kept = this.#slots[index & SLOT];
    return kept !== undefined && kept.offset === offset && kept.partition === partition;
  }

  #limit(): void {
    while (this.#bytes > this.#room && this.size > 0) this.#drop();
  }

  #drop(): void {
    const slot = this.#begin & SLOT;
    const kept = this.#slots[slot];
    this.#slots[slot] = undefined;
    this.#begin += 1;
    if (kept === undefined) return;
    this.#bytes -= kept.bytes;
    this.since = kept.at;
  }
}

/** The last events of each topic, kept before a question asks for them. All topics have the same room. */
export class RecentEvents<Kept extends KeptEvent> {
  readonly #topics = new Map<string, TopicEvents<Kept>>();
  readonly #maxBytes: number;
  readonly #now: () => number;
  /** ms since 1970: a topic that is not in `#topics` has had no event since. */
  #since: number;

  /**
   * @param maxBytes the bytes of all topics together
   * @param now ms since 1970
   */
  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#since = now();
  }

  /** The events to read: an unknown topic gets an empty ring, which is not the one that its first event goes to. */
  of(topic: string): TopicEvents<Kept> {
    return this.#topics.get(topic) ?? new TopicEvents(this.#since);
  }

  /** The events to add to. */
  for(topic: string): TopicEvents<Kept> {
    return this.#topics.get(topic) ?? this.#begin(topic);
  }

  #begin(topic: string): TopicEvents<Kept> {
    if (this.#topics.size === MAX_TOPICS) {
      for (const first of this.#topics.keys()) {
        this.#topics.delete(first);
        break;
      }
      this.#since = this.#now();
    }
    const events = new TopicEvents<Kept>(this.#since);
    this.#topics.set(topic, events);
    const room = Math.floor(this.#maxBytes / this.#topics.size);
    for (const each of this.#topics.values()) each.room = room;
    return events;
  }
}
