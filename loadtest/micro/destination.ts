import type { Sink } from './hub-parts.ts';

/** Takes one subscriber's frames, in one piece or more. */
export interface Pieces extends Sink {
  /** Writes bytes that do not change any more. */
  write(...pieces: readonly Buffer[]): void;
}

export interface Destination {
  readonly sinks: readonly Pieces[];
  /**
   * Resolves when all bytes that are being written have arrived.
   *
   * @param expected bytes written since the last call
   * @returns bytes that have arrived since then
   */
  received(expected: number): Promise<number>;
  /** @returns a digest of all bytes that arrive through `send` */
  digest(send: () => Promise<unknown>): Promise<string>;
  close(): void | Promise<void>;
}

/** The limit in turns: a flush may take several, but a variant that writes too little must not be waited for. */
const PATIENCE = 1_000;

/** Resolves when `expected` bytes have been written, or after PATIENCE turns. */
export async function untilWritten(written: () => number, expected: number): Promise<void> {
  for (let turn = 0; turn < PATIENCE && written() < expected; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
