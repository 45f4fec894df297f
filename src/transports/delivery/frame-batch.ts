import type { SerializedResult } from '../../hub/result.ts';
import { writeId, type FrameFormat } from './frame-format.ts';

/** Results for one socket, in order, with the ids of their operations. Protocol messages, as text, may be among them. */
export interface QueuedFrames {
  readonly format: FrameFormat;
  /** Index of the first that has not been written. */
  readonly next: number;
  readonly messages: readonly (SerializedResult | string)[];
  /** The ids as written in frames; empty for a text. */
  readonly ids: readonly string[];
  /**
   * Called when frames are about to be written.
   *
   * @param next index of the first message that is not written
   * @param bytes that the others counted: see `heldBytes`
   */
  written(next: number, bytes: number): void;
}

/**
 * Most bytes that are copied together for one write. Beyond it, another write costs less than the memory that a slow socket
 * would hold.
 */
export const MAX_BATCH_BYTES = 64 * 1024;

/** A single result of up to that size, with an id of ordinary length, fits too. */
const SCRATCH_BYTES = MAX_BATCH_BYTES + 1_024;

/** Batches that are kept to be used again. */
const MAX_BATCHES = 16;

interface BatchSink {
  /** Writes the first `length` of these bytes before it returns: they change with the next socket. */
  write(bytes: Buffer, length: number): void;
}

/**
 * Frames that follow each other, in one buffer. Sockets of one group get the same results in a turn, mostly with ids of the
 * same length: for them the buffer is made once, and only the ids in it change from socket to socket.
 *
 *     {"payload":{…1…},"id":"▒▒▒","type":"next"}{"payload":{…2…},"id":"▒▒▒","type":"next"}
 */
class FrameBatch {
  readonly #format: FrameFormat;
  readonly #results: readonly SerializedResult[];
  readonly #idLengths: readonly number[];
  readonly #idOffsets: number[] = [];
  readonly #bytes: Buffer;

  constructor(
    format: FrameFormat,
    results: readonly SerializedResult[],
    idLengths: readonly number[],
    length: number,
  ) {
    this.#format = format;
    this.#results = results;
    this.#idLengths = idLengths;
    this.#bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (const [index, result] of results.entries()) {
      const idLength = idLengths[index] ?? 0;
      this.#idOffsets.push(format.write(this.#bytes, at, result, idLength));
      at += format.length(result, idLength);
    }
  }

  /** Whether these frames equal the batch's, except for the text of the ids. */
  matches({ format, messages, ids }: QueuedFrames, from: number, to: number): boolean {
    const count = this.#results.length;
    if (count !== to - from || format !== this.#format) return false;
    for (let index = 0; index < count; index += 1) {
      if (messages[from + index] !== this.#results[index]) return false;
      if (ids[from + index]?.length !== this.#idLengths[index]) return false;
    }
    return true;
  }

  /** The bytes with these ids, valid until the next call. */
  bytesFor(ids: readonly string[], from: number): Buffer {
    for (let index = 0; index < this.#idOffsets.length; index += 1) {
      writeId(this.#bytes, this.#idOffsets[index] ?? 0, ids[from + index] ?? '');
    }
    return this.#bytes;
  }
}

/**
 * The batches of frames that one turn writes, so that sockets with the same results share the work. A socket with results
 * of its own costs no more than its bytes: a batch is kept from its second socket on.
 */
export class FrameBatchCache {
  /** By first result. */
  readonly #batches = new Map<SerializedResult, FrameBatch[]>();
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #size = 0;
  /** First results of batches that have been written once, and were not kept. */
  readonly #seen = new Set<SerializedResult>();

  /** Writes the next frames of a queue: as many as make up one write, at least one. */
  write(queued: QueuedFrames, sink: BatchSink): void {
    const from = queued.next;
    const { to, length, held } = extent(queued, from);
    const first = queued.messages[from] as SerializedResult;
    queued.written(to, held);
    if (!this.#seen.has(first) && length <= SCRATCH_BYTES) {
      if (this.#seen.size === MAX_BATCHES) this.#seen.clear();
      this.#seen.add(first);
      this.#writeScratch(queued, from, to);
      sink.write(this.#scratch, length);
    } else {
      const batch = this.#find(queued, from, to) ?? this.#create(queued, from, to, length);
      sink.write(batch.bytesFor(queued.ids, from), length);
    }
  }

  /** Forgets all. Call this when a turn's writes are over: otherwise results would stay in memory. */
  clear(): void {
    this.#batches.clear();
    this.#size = 0;
    this.#seen.clear();
  }

  #writeScratch({ format, messages, ids }: QueuedFrames, from: number, to: number): void {
    let at = 0;
    for (let index = from; index < to; index += 1) {
      const result = messages[index] as SerializedResult;
      const id = ids[index] ?? '';
      writeId(this.#scratch, format.write(this.#scratch, at, result, id.length), id);
      at += format.length(result, id.length);
    }
  }

  #find(queued: QueuedFrames, from: number, to: number): FrameBatch | undefined {
    const batches = this.#batches.get(queued.messages[from] as SerializedResult);
    if (batches !== undefined) for (const batch of batches) if (batch.matches(queued, from, to)) return batch;
    return undefined;
  }

  #create({ format, messages, ids }: QueuedFrames, from: number, to: number, length: number): FrameBatch {
    if (this.#size === MAX_BATCHES) this.clear();
    this.#size += 1;
    const own = messages.slice(from, to) as SerializedResult[];
    const batch = new FrameBatch(
      format,
      own,
      own.map((_, index) => ids[from + index]?.length ?? 0),
      length,
    );
    const [first] = own;
    const batches = first && this.#batches.get(first);
    if (batches !== undefined) batches.push(batch);
    else if (first !== undefined) this.#batches.set(first, [batch]);
    return batch;
  }
}

/** How far one write goes: up to the next text, or to MAX_BATCH_BYTES. */
function extent({ format, messages, ids }: QueuedFrames, from: number) {
  let [to, length, held] = [from, 0, 0];
  for (; to < messages.length; to += 1) {
    const result = messages[to];
    if (result === undefined || typeof result === 'string') break;
    const idLength = ids[to]?.length ?? 0;
    const more = format.length(result, idLength);
    if (to > from && length + more > MAX_BATCH_BYTES) break;
    length += more;
    held += format.held === undefined ? more : format.held(result, idLength);
  }
  return { to, length, held };
}
