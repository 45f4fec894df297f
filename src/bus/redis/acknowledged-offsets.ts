/**
 * What Redis has acknowledged to this pod in the present epoch of a topic: the last offset of each partition. A server that
 * holds less has lost messages.
 */
export class AcknowledgedOffsets {
  #epoch = '';
  /** By partition, as history scripts name it. */
  readonly #offsets = new Map<string, number>();

  get epoch(): string {
    return this.#epoch;
  }

  get partitions(): readonly string[] {
    return [...this.#offsets.keys()];
  }

  /** @returns -1 if nothing of the partition has been acknowledged */
  of(partition: string): number {
    return this.#offsets.get(partition) ?? -1;
  }

  /** Redis has acknowledged events up to these offsets. */
  note(epoch: string, offsets: ReadonlyMap<string, number>): void {
    if (epoch !== this.#epoch) this.#offsets.clear();
    this.#epoch = epoch;
    for (const [partition, offset] of offsets)
      this.#offsets.set(partition, Math.max(offset, this.of(partition)));
  }
}
