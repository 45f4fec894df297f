import type { FramedResult, FrameFormat } from '../delivery/frame-format.ts';

const LINE_END = Buffer.from('\r\n');

/** Writes each frame as one chunk of a body in HTTP/1.1 (RFC 9112, 7.1): the same bytes for all clients. */
export class ChunkedFrames implements FrameFormat {
  readonly #frames: FrameFormat;

  constructor(frames: FrameFormat) {
    this.#frames = frames;
  }

  length(result: FramedResult, idLength: number): number {
    const length = this.#frames.length(result, idLength);
    return digitsOf(length) + length + 2 * LINE_END.length;
  }

  write(target: Buffer, at: number, result: FramedResult, idLength: number): number {
    const length = this.#frames.length(result, idLength);
    let end = at + target.write(length.toString(16), at, 'latin1');
    end += LINE_END.copy(target, end);
    const id = this.#frames.write(target, end, result, idLength);
    LINE_END.copy(target, end + length);
    return id;
  }

  pieces(result: FramedResult, id: string): Buffer[] {
    const length = this.#frames.length(result, id.length);
    return [Buffer.from(`${length.toString(16)}\r\n`), ...this.#frames.pieces(result, id), LINE_END];
  }
}

/** A text that is not empty, as one chunk. */
export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The number of hexadecimal digits of a length that is not 0. Fast, as each delivery needs it. */
function digitsOf(length: number): number {
  return (35 - Math.clz32(length)) >> 2;
}
