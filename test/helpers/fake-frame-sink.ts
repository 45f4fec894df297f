import type { FrameSink } from '../../src/transports/delivery/send-queue.ts';
import { NEXT_FRAMES } from '../../src/transports/websocket/frame.ts';

/** A socket for send queues: keeps its writes, and is full while a test says so. */
export class FakeFrameSink implements FrameSink {
  readonly format = NEXT_FRAMES;
  open = true;
  waitingBytes = 0;
  full = false;
  overflows = 0;
  /** Each write; texts that are no frames yet are between angle brackets. */
  readonly writes: string[] = [];
  /** The socket is full when this many bytes wait in it. */
  slowFrom = Infinity;
  #drained: (() => void) | undefined;

  onceDrained(drained: () => void): void {
    this.#drained = drained;
  }

  write(bytes: Buffer, length: number): void {
    this.#take(length, bytes.toString('utf8', 0, length));
  }

  writePieces(pieces: readonly Buffer[]): void {
    const frame = Buffer.concat(pieces);
    this.write(frame, frame.length);
  }

  send(text: string): void {
    this.#take(text.length, `<${text}>`);
  }

  overflow(): void {
    this.overflows += 1;
    this.open = false;
  }

  /** Sends all bytes that wait. */
  drain(): void {
    this.waitingBytes = 0;
    this.full = false;
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }

  /** The writes, without WebSocket headers and the parts that all frames share. */
  get said(): string[] {
    return this.writes.map((write) =>
      write.replace(/[^{}<>]*\{"payload":\{"data":"(.*?)"\},"id":"(.*?)","type":"next"\}/gs, '$1→$2 ').trim(),
    );
  }

  #take(bytes: number, text: string): void {
    this.writes.push(text);
    if (this.slowFrom === Infinity) return;
    this.waitingBytes += bytes;
    this.full = this.waitingBytes >= this.slowFrom;
  }
}
