import type { FrameSink } from '../../src/transports/delivery/send-queue.ts';
import { NEXT_FRAMES } from '../../src/transports/websocket/frame.ts';

/** A socket for send queues: keeps what is written, and is full while a test says so. */
export class FakeFrameSink implements FrameSink {
  readonly format = NEXT_FRAMES;
  open = true;
  waitingBytes = 0;
  full = false;
  overflows = 0;
  /** Each write; texts, which are no frames yet, between angle brackets. */
  readonly writes: string[] = [];
  /** What the socket can't send at once waits in it, and fills it up to this mark. */
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

  /** All that has waited is gone. */
  drain(): void {
    this.waitingBytes = 0;
    this.full = false;
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }

  /** What has been written, without WebSocket headers and all that is the same in every frame. */
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
