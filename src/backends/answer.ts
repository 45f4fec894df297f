import type { Dispatcher } from 'undici';
import type { ByteSource, Reservation } from '../support/byte-budget.ts';

/** An answer that has been read. Its reader releases the reservation once the text has been parsed. */
export interface Answer {
  readonly text: string;
  readonly reserved: Reservation;
}

export interface AnswerRoom {
  readonly bytes: ByteSource;
  /** The answers count as bytes of this owner. */
  readonly owner: object;
  /** An answer beyond this length is refused. */
  readonly maxBytes: number;
}

/** Bytes reserved at first for an answer without a content-length: most answers fit. */
const FIRST_BYTES = 64 * 1024;

/**
 * Reads the body of an answer. Bytes are reserved before they are read: the announced length, or FIRST_BYTES, and for a
 * longer answer the most allowed. While an answer waits for room, it holds no reservation and its body is not read.
 *
 * @throws RangeError if the answer is too long, or the signal's reason
 */
export async function readAnswer(
  { headers, body }: Dispatcher.ResponseData,
  { bytes, owner, maxBytes }: AnswerRoom,
  signal: AbortSignal,
): Promise<Answer> {
  const most = Math.min(maxBytes, bytes.most);
  const announced = headers['content-length'];
  const first = announced === undefined ? Math.min(FIRST_BYTES, most) : Number(announced);
  let reserved: Reservation | undefined;
  try {
    if (first > most) throw tooLong(most, String(first));
    reserved = await bytes.reserve(first, owner, signal);
    // Chunks are copied into one buffer: chunks of one byte, if kept, would take a hundred times the reserved bytes.
    let answer = Buffer.allocUnsafe(announced === undefined ? 0 : first);
    let size = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      const needed = size + chunk.length;
      if (needed > most) throw tooLong(most, 'more');
      if (needed > reserved.bytes) {
        reserved.release();
        reserved = await bytes.reserve(most, owner, signal);
      }
      if (needed > answer.length) {
        const larger = Buffer.allocUnsafe(Math.min(2 * needed, reserved.bytes));
        answer.copy(larger, 0, 0, size);
        answer = larger;
      }
      answer.set(chunk, size);
      size = needed;
    }
    reserved.resize(size);
    return { text: new TextDecoder().decode(answer.subarray(0, size)), reserved };
  } catch (thrown) {
    reserved?.release();
    // A body that is not read to its end would keep its connection.
    body.on('error', () => undefined).destroy();
    throw thrown;
  }
}

function tooLong(most: number, got: string): RangeError {
  return new RangeError(`expected an answer of at most ${most} bytes, got ${got}`);
}
