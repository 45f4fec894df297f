/**
 * How many events of one key have come in an interval, in all and since a phase: see `HeldEvents`.
 *
 *     phase    0   0   2   5   5   5
 *     kept     0: none before   2: 2 before   5: 3 before   6 in all
 */
export class Arrivals {
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
