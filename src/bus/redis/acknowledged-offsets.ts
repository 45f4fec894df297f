import { isAfter, type LogPosition } from '../../events/log-position.ts';
import { NO_POSITION } from './position-field.ts';

/**
 * The last position in each partition, and the topic's sequence, that Redis has acknowledged to this pod in the present epoch
 * of a topic. A server that holds an earlier one has lost messages.
 */
export class AcknowledgedOffsets {
  #epoch = '';
  #sequence = 0;
  /** By partition, as history scripts name it. */
  readonly #positions = new Map<string, LogPosition>();

  get epoch(): string {
    return this.#epoch;
  }

  /** The topic's sequence when Redis acknowledged the last events; 0 before. */
  get sequence(): number {
    return this.#sequence;
  }

  get partitions(): readonly string[] {
    return [...this.#positions.keys()];
  }

  of(partition: string): LogPosition {
    return this.#positions.get(partition) ?? NO_POSITION;
  }

  /**
   * Notes that Redis has acknowledged events up to these positions.
   *
   * @param sequence the topic's, behind these events; 0: none were published
   */
  note(epoch: string, positions: ReadonlyMap<string, LogPosition>, sequence: number): void {
    if (epoch !== this.#epoch) {
      this.#positions.clear();
      this.#sequence = 0;
    }
    this.#epoch = epoch;
    // A former master may have been in a later branch.
    if (sequence > 0) this.#sequence = sequence;
    for (const [partition, position] of positions)
      if (isAfter(position, this.of(partition))) this.#positions.set(partition, position);
  }
}
