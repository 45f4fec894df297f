/** The part of a SerializedResult that is written. */
export interface FramedResult {
  readonly json: Buffer;
  /** The cursor of its event, if that is kept. ASCII. */
  readonly cursor?: string | undefined;
  /** Absent: it is sent as it is. See `SerializedResult`. */
  compressed?(compress: (json: Buffer) => Buffer | undefined): Buffer | undefined;
}

/**
 * What one wire writes around a result. Except for the id, a frame is the same for all clients of the wire with ids of the
 * same length. Ids are ASCII, as written in the frame; empty on a wire without ids.
 */
export interface FrameFormat {
  /** Bytes of a whole frame. */
  length(result: FramedResult, idLength: number): number;
  /** Bytes that a frame counts while it waits, for a format that compresses: what it is made of. Absent: its length. */
  readonly held?: ((result: FramedResult, idLength: number) => number) | undefined;
  /** Writes one frame without its id. @returns where the id goes */
  write(target: Buffer, at: number, result: FramedResult, idLength: number): number;
  /** One frame in buffers that do not change, around a result that is too large to be copied for each client. */
  pieces(result: FramedResult, id: string): Buffer[];
}

/** Writes an id of ASCII. A loop, since native calls cost more for ids of ordinary length. */
export function writeId(target: Buffer, at: number, id: string): void {
  for (let index = 0; index < id.length; index += 1) target[at + index] = id.charCodeAt(index);
}

/** Bytes that a frame counts while it waits. */
export function heldBytes(format: FrameFormat, result: FramedResult, idLength: number): number {
  return format.held === undefined ? format.length(result, idLength) : format.held(result, idLength);
}
