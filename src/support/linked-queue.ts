interface Link<Value> {
  previous: Link<Value> | undefined;
  next: Link<Value> | undefined;
  readonly value: Value;
}

/** The place of one value in a LinkedQueue. */
export type Place<Value> = Readonly<Link<Value>>;

/**
 * First in, first out, and values may leave before their turn. Every operation takes the same time however many wait:
 * taking the first key of a Set walks over all that have been deleted before it.
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

  /** Stays; undefined if there is none. */
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

  /** Takes the first value out; undefined if there is none. */
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
