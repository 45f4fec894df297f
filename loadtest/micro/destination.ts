import type { Sink } from './hub-parts.ts';

/** Where one subscriber's frames go, in one piece or more. */
export interface Pieces extends Sink {
  /** Writes bytes that stay as they are. */
  write(...pieces: readonly Buffer[]): void;
}

export interface Destination {
  readonly sinks: readonly Pieces[];
  /**
   * Resolves when all that is being written has arrived.
   *
   * @param expected bytes since it was last asked
   * @returns bytes that have arrived since then
   */
  received(expected: number): Promise<number>;
  /** @returns a digest of all that `send` makes arrive */
  digest(send: () => Promise<unknown>): Promise<string>;
  close(): void | Promise<void>;
}

/** A flush may take several turns; a variant that writes too little must not be waited for. */
const PATIENCE = 1_000;

/** Resolves when so many bytes have been written, or when too little comes of a flush. */
export async function untilWritten(written: () => number, expected: number): Promise<void> {
  for (let turn = 0; turn < PATIENCE && written() < expected; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
