/** Something that happens at a point of virtual time. */
export interface TimedEvent {
  readonly at: number;
  /** Events of one time happen in the order in which they were added. */
  readonly sequence: number;
}

/** A binary heap: the earliest event first. */
export class EventQueue<Event extends TimedEvent> {
  readonly #heap: Event[] = [];

  get size(): number {
    return this.#heap.length;
  }

  add(event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(event, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = event;
  }

  get first(): Event | undefined {
    return this.#heap[0];
  }

  take(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const [one, other] = [heap[left], heap[left + 1]];
      if (one === undefined) break;
      const [child, at] = other !== undefined && isBefore(other, one) ? [other, left + 1] : [one, left];
      if (!isBefore(child, last)) break;
      heap[index] = child;
      index = at;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(one: TimedEvent, other: TimedEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.sequence < other.sequence);
}
