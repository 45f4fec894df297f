interface Link<Value> {
  previous: Link<Value> | undefined;
  next: Link<Value> | undefined;
  readonly value: Value;
}

/** The place of one value in a LinkedQueue. */
export type Place<Value> = Readonly<Link<Value>>;

/**
 * A first-in, first-out queue whose values may leave before their turn. Every operation takes the same time, however
 * many values wait; to take the first key of a Set walks over all keys that were deleted before it.
 *
 *     #first ──► place ⇄ place ⇄ place ◄── #last
 */
export class LinkedQueue<Value> {
  #first: Link<Value> | undefined;
  #last: Link<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The first value, which stays in the queue; undefined if the queue is empty. */
  get first(): Value | undefined {
    return this.#first?.value;
  }

  push(value: Value): Place<Value> {
    const link: Link<Value> = { previous: this.#last, next: undefined, value };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** Takes the first value out; undefined if the queue is empty. */
  shift(): Value | undefined {
    const first = this.#first;
    if (first !== undefined) this.remove(first);
    return first?.value;
  }

  /** @param place of a value that is still in this queue */
  remove(place: Place<Value>): void {
    const { previous, next } = place;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    this.#size -= 1;
  }
}
