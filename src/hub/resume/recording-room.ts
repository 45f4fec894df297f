import type { Reservation } from '../../support/byte-budget.ts';

/** The bytes that recordings of one request take together, out of its owner's share. */
export class RecordingRoom {
  readonly #reservation: Reservation;
  #taken = 0;
  #isReading = true;

  /** @param reservation the bytes that may be read; those of recorded messages stay reserved */
  constructor(reservation: Reservation) {
    this.#reservation = reservation;
  }

  get bytes(): number {
    return this.#reservation.bytes;
  }

  /** @returns false if there is no room for so many more: then none are taken. Less always fits. */
  take(bytes: number): boolean {
    const taken = this.#taken + bytes;
    const isReserved = this.#isReading && taken <= this.#reservation.bytes;
    if (!isReserved && !this.#reservation.resize(taken)) return false;
    this.#taken = taken;
    return true;
  }

  /** All has been read. */
  settle(): void {
    this.#isReading = false;
    this.#reservation.resize(this.#taken);
  }
}
