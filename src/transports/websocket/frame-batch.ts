import { frameLength, writeFrame, writeId } from './frame.ts';
import type { Payload } from '../../hub/result.ts';

/** Results on their way to one socket, in order, with the ids they go to. A message in ready text stands among them. */
export interface Queued {
  /** Where the first is that has not been written. */
  readonly next: number;
  readonly payloads: readonly (Payload | string)[];
  /** As `idText` makes them; nothing that counts beside a text. */
  readonly ids: readonly string[];
  /** So many bytes are being written: all before the next one. */
  written(next: number, bytes: number): void;
}

/**
 * Most bytes that are copied together for one write. Beyond it another write costs less than the memory that a socket
 * would hold which does not take them.
 */
export const LARGEST_RUN = 64 * 1024;

/** A single result up to that size, under an id of ordinary length, fits too. */
const SCRATCH_BYTES = LARGEST_RUN + 1_024;

/** Runs that are kept to be used again. */
const MAX_RUNS = 16;

interface Taker {
  /** Takes what the first `length` of these bytes are at the moment. */
  write(bytes: Buffer, length: number): void;
}

/**
 * Frames that follow each other, in one buffer. Sockets of one group are sent the same results in a turn, to ids of
 * the same length mostly: for them the buffer is made once, and only the ids in it are changed from socket to socket.
 *
 *     {"payload":{…1…},"id":"▒▒▒","type":"next"}{"payload":{…2…},"id":"▒▒▒","type":"next"}
 */
class Run {
  readonly #payloads: readonly Payload[];
  readonly #idLengths: readonly number[];
  readonly #idsAt: number[] = [];
  readonly #bytes: Buffer;

  constructor(payloads: readonly Payload[], idLengths: readonly number[], length: number) {
    this.#payloads = payloads;
    this.#idLengths = idLengths;
    this.#bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (const [index, { json }] of payloads.entries()) {
      const idLength = idLengths[index] ?? 0;
      this.#idsAt.push(writeFrame(this.#bytes, at, json, idLength));
      at += frameLength(json.length, idLength);
    }
  }

  fits({ payloads, ids }: Queued, from: number, to: number): boolean {
    const count = this.#payloads.length;
    if (count !== to - from) return false;
    for (let index = 0; index < count; index += 1) {
      if (payloads[from + index] !== this.#payloads[index]) return false;
      if (ids[from + index]?.length !== this.#idLengths[index]) return false;
    }
    return true;
  }

  /** The bytes for these ids, until it is asked for others. */
  bytesFor(ids: readonly string[], from: number): Buffer {
    for (let index = 0; index < this.#idsAt.length; index += 1) {
      writeId(this.#bytes, this.#idsAt[index] ?? 0, ids[from + index] ?? '');
    }
    return this.#bytes;
  }
}

/**
 * The runs of frames that one turn writes, so that sockets which are sent the same share the work. One that is sent
 * what nobody else is, costs no more than its bytes: a run is kept from its second socket on.
 */
export class Runs {
  readonly #runs = new Map<Payload, Run[]>();
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #size = 0;
  /** What runs began with that were not kept. */
  readonly #seen = new Set<Payload>();

  /** Writes what is next: as many frames as make up one write, at least one. */
  write(queued: Queued, taker: Taker): void {
    const from = queued.next;
    const { to, length } = extent(queued, from);
    const first = queued.payloads[from] as Payload;
    queued.written(to, length);
    if (!this.#seen.has(first) && length <= SCRATCH_BYTES) {
      if (this.#seen.size === MAX_RUNS) this.#seen.clear();
      this.#seen.add(first);
      this.#write(queued, from, to);
      taker.write(this.#scratch, length);
    } else {
      const run = this.#find(queued, from, to) ?? this.#make(queued, from, to, length);
      taker.write(run.bytesFor(queued.ids, from), length);
    }
  }

  /** Forgets all. To be called when a turn's writes are over: results must not stay in memory for it. */
  clear(): void {
    this.#runs.clear();
    this.#size = 0;
    this.#seen.clear();
  }

  #write({ payloads, ids }: Queued, from: number, to: number): void {
    let at = 0;
    for (let index = from; index < to; index += 1) {
      const { json } = payloads[index] as Payload;
      const id = ids[index] ?? '';
      writeId(this.#scratch, writeFrame(this.#scratch, at, json, id.length), id);
      at += frameLength(json.length, id.length);
    }
  }

  #find(queued: Queued, from: number, to: number): Run | undefined {
    const runs = this.#runs.get(queued.payloads[from] as Payload);
    if (runs !== undefined) for (const run of runs) if (run.fits(queued, from, to)) return run;
    return undefined;
  }

  #make({ payloads, ids }: Queued, from: number, to: number, length: number): Run {
    if (this.#size === MAX_RUNS) this.clear();
    this.#size += 1;
    const mine = payloads.slice(from, to) as Payload[];
    const run = new Run(
      mine,
      mine.map((_, index) => ids[from + index]?.length ?? 0),
      length,
    );
    const [first] = mine;
    const runs = first && this.#runs.get(first);
    if (runs !== undefined) runs.push(run);
    else if (first !== undefined) this.#runs.set(first, [run]);
    return run;
  }
}

/** How far one write goes. */
function extent({ payloads, ids }: Queued, from: number): { to: number; length: number } {
  let length = 0;
  let to = from;
  for (; to < payloads.length; to += 1) {
    const payload = payloads[to];
    if (payload === undefined || typeof payload === 'string') break;
    const more = frameLength(payload.json.length, ids[to]?.length ?? 0);
    if (to > from && length + more > LARGEST_RUN) break;
    length += more;
  }
  return { to, length };
}
