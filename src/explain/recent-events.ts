/** An event that is kept until later ones of its topic need its room. */
export interface KeptEvent {
  readonly partition: number;
  readonly offset: number;
  /** When the process met it: ms since 1970. */
  readonly at: number;
  /** That it takes, about. */
  bytes: number;
}

/** A power of two: slots are found by a mask. */
const MAX_EVENTS = 64;

const SLOT = MAX_EVENTS - 1;

/** With more, the one that was met first gives way. */
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
  /** The one that was found last: the next that is looked for mostly follows it. */
  #found = -1;
  #bytes = 0;
  #room = 0;
  /** The highest offset that each partition has had. */
  readonly #highest = new Map<number, number>();
  /** From this one on, events of each partition are in the order of their offsets, as they mostly are. */
  #inOrderFrom = 0;
  /** All events that were met later are here. ms since 1970 */
  since: number;

  constructor(since: number) {
    this.since = since;
  }

  get size(): number {
    return this.#end - this.#begin;
  }

  /** Bytes that all its events may take together. */
  get room(): number {
    return this.#room;
  }

  set room(bytes: number) {
    this.#room = bytes;
    this.#limit();
  }

  /** @returns the last one of this offset: a topic that is made anew, or read again, has it twice */
  find(partition: number, offset: number): Kept | undefined {
    // As for most that come.
    if (offset > (this.#highest.get(partition) ?? -1)) return undefined;
    if (this.#inOrderFrom <= this.#begin) {
      const first = this.#slots[this.#begin & SLOT];
      // As for most of a large chunk, when it has been published.
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

  /** One of its events takes so many bytes now. */
  resize(kept: Kept, bytes: number): void {
    this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    this.#limit();
  }

  /** The last first. */
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

/** The last events of each topic, without anyone having asked for them. All topics have the same room. */
export class RecentEvents<Kept extends KeptEvent> {
  readonly #topics = new Map<string, TopicEvents<Kept>>();
  readonly #maxBytes: number;
  readonly #now: () => number;
  /** ms since 1970: of a topic that has not been met, there was no event since. */
  #since: number;

  /**
   * @param maxBytes of all topics together
   * @param now ms since 1970
   */
  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#since = now();
  }

  /** To be read only: another one is there once the topic has an event. */
  of(topic: string): TopicEvents<Kept> {
    return this.#topics.get(topic) ?? new TopicEvents(this.#since);
  }

  /** To be added to. */
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
