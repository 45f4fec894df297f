import { createHash } from 'node:crypto';
import { untilWritten, type Destination, type Pieces } from './destination.ts';

/** Drops all bytes, so that only the cost of the JavaScript is measured. */
export class NullDestination implements Destination {
  readonly sinks: readonly Pieces[];
  #bytes = 0;
  #kept: Buffer[][] | undefined;

  constructor(count: number) {
    this.sinks = Array.from({ length: count }, (_, index) => ({
      waitingBytes: 0,
      write: (...pieces: readonly Buffer[]) => {
        for (const piece of pieces) this.#take(index, piece, piece.length);
      },
      take: (bytes, length) => this.#take(index, bytes, length),
    }));
  }

  #take(index: number, bytes: Buffer, length: number): void {
    this.#bytes += length;
    if (this.#kept !== undefined) (this.#kept[index] ??= []).push(Buffer.from(bytes.subarray(0, length)));
  }

  async received(expected: number): Promise<number> {
    await untilWritten(() => this.#bytes, expected);
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  async digest(send: () => Promise<unknown>): Promise<string> {
    const kept: Buffer[][] = [];
    this.#kept = kept;
    await send();
    this.#kept = undefined;
    const hash = createHash('sha256');
    for (const pieces of kept) hash.update(createHash('sha256').update(Buffer.concat(pieces)).digest());
    return hash.digest('hex');
  }

  close(): void {}
}
