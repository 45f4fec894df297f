/** One socket as the flush sees it. */
export interface Wire {
  /** False from the moment that nothing may be written any more. */
  readonly open: boolean;
  /** Bytes handed to the socket that it has not been able to send yet. */
  readonly waitingBytes: number;
  /** In one go. */
  write(chunks: readonly Buffer[]): void;
  /** More would wait than may: the socket is to be closed. */
  overflow(): void;
}

/** What is larger goes to the socket as it is; what is smaller is copied together first, up to this size. */
const LARGEST_COPY = 32 * 1024;

/** Gathers what becomes ready in one turn of the event loop, and writes it at the turn's end: one write a socket. */
export class Flusher {
  #outboxes: Outbox[] = [];
  #consumedAt: number[] = [];
  readonly #now: () => number;
  readonly #observeDelay: (seconds: number) => void;

  /** @param now ms, the clock that stamps events as consumed */
  constructor(now: () => number, observeDelay: (seconds: number) => void) {
    this.#now = now;
    this.#observeDelay = observeDelay;
  }

  enlist(outbox: Outbox): void {
    if (this.#outboxes.push(outbox) === 1) setImmediate(() => this.#flush());
  }

  /** Notes that results of an event that was consumed then (ms) leave with this turn's flush. */
  timed(consumedAt: number): void {
    if (this.#outboxes.length > 0) this.#consumedAt.push(consumedAt);
  }

  #flush(): void {
    const outboxes = this.#outboxes;
    const consumedAt = this.#consumedAt;
    this.#outboxes = [];
    this.#consumedAt = [];
    for (const outbox of outboxes) outbox.flush();
    const now = this.#now();
    for (const then of consumedAt) this.#observeDelay(Math.max(0, now - then) / 1000);
  }
}

/** What one socket is about to be sent in this turn. */
export class Outbox {
  readonly #wire: Wire;
  readonly #flusher: Flusher;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** @param maxBytes that may wait for the socket, here and in its own buffer */
  constructor(wire: Wire, flusher: Flusher, maxBytes: number) {
    this.#wire = wire;
    this.#flusher = flusher;
    this.#maxBytes = maxBytes;
  }

  /** Adds one frame in two pieces. The pieces are shared: nobody may write to them. */
  add(prefix: Buffer, suffix: Buffer): void {
    if (!this.#wire.open) return;
    if (this.#pieces.length === 0) this.#flusher.enlist(this);
    this.#pieces.push(prefix, suffix);
    this.#bytes += prefix.length + suffix.length;
    if (this.#bytes + this.#wire.waitingBytes <= this.#maxBytes) return;
    // A burst within one turn is no slowness: what counts is what the socket does not get rid of.
    this.flush();
    if (this.#wire.waitingBytes > this.#maxBytes) this.#wire.overflow();
  }

  /** Writes what has been gathered. Called ahead of its time when something else must follow it on the socket. */
  flush(): void {
    if (this.#pieces.length === 0) return;
    const pieces = this.#pieces;
    const bytes = this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    if (!this.#wire.open) return;
    this.#wire.write(bytes <= LARGEST_COPY ? [Buffer.concat(pieces, bytes)] : joined(pieces));
  }
}

/** Few buffers of many pieces: small ones copied together, large ones as they are. */
function joined(pieces: readonly Buffer[]): Buffer[] {
  const chunks: Buffer[] = [];
  let small: Buffer[] = [];
  let size = 0;
  const close = (): void => {
    if (small.length > 0) chunks.push(Buffer.concat(small, size));
    small = [];
    size = 0;
  };
  for (const piece of pieces) {
    if (size + piece.length > LARGEST_COPY) close();
    if (piece.length > LARGEST_COPY) chunks.push(piece);
    else {
      small.push(piece);
      size += piece.length;
    }
  }
  close();
  return chunks;
}
