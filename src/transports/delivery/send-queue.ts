import { heldBytes, type FrameFormat } from './frame-format.ts';
import type { SerializedResult } from '../../hub/result.ts';
import { LateQueue, type LateReceiver } from './late-results.ts';
import { MAX_BATCH_BYTES, type FrameBatchCache } from './frame-batch.ts';
import { PendingFrames } from './pending-frames.ts';

/** One socket, as a send queue writes to it. */
export interface FrameSink {
  /** The format of the wire that the client reads. */
  readonly format: FrameFormat;
  /** False from the moment that nothing may be written any more. */
  readonly open: boolean;
  /** Bytes handed to the socket that it has not been able to send yet. */
  readonly waitingBytes: number;
  /** The socket holds as much as it should: further bytes would only wait in it. */
  readonly full: boolean;
  /** Calls back once, when the socket is no longer full; not if it closes before. */
  onceDrained(drained: () => void): void;
  /** Writes the first `length` bytes, which are whole frames. The caller may change them as soon as this returns. */
  write(bytes: Buffer, length: number): void;
  /** Writes one frame, given in pieces that do not change any more. */
  writePieces(pieces: readonly Buffer[]): void;
  /** Called after each result that has been written, in order. Absent: the sink counts none. */
  readonly wrote?: ((result: SerializedResult) => void) | undefined;
  /** Sends one message of the protocol, which is text and no frame yet. */
  send(text: string): void;
}

export interface SendQueueOwner {
  /** Called when more would wait than allowed. The queue has been dropped: the owner closes the socket. */
  overflow(): void;
}

/** What all send queues of a process have in common. */
export interface SendQueueServices {
  readonly frameBatches: FrameBatchCache;
  /** Makes the send queue be flushed at the end of this turn, or of a later one if there are many. */
  enlist(sendQueue: SendQueue): void;
  /** ms since 1970 */
  now(): number;
  /** A result was left out, since the receiver's socket is slow. */
  leftOut(result: SerializedResult, receiver: LateReceiver): void;
  /** A slow socket has taken everything that waited for it. */
  caughtUp(sendQueue: SendQueue): void;
}

/**
 * The messages for one socket, as references to results that other sockets share.
 *
 *     deliver ──► queue ──end of turn──► one write (of 64 KiB at most)
 *                   │                         ▲
 *                   └── socket is full ──► drained
 *
 * A socket that takes no more delays only its own queue. The bytes that wait in the queue and the socket are limited;
 * beyond the limit the queue is dropped and the socket closed.
 */
export class SendQueue {
  readonly #sink: FrameSink;
  readonly #owner: SendQueueOwner;
  readonly #services: SendQueueServices;
  readonly #maxBytes: number;
  #queue: PendingFrames | undefined;
  /** Made when it is needed. */
  #late: LateQueue | undefined;
  #draining = false;
  /** See `slowSince`. */
  #slowSince: number | undefined;
  /** Bytes of the largest message waiting that alone exceeds the bound: the bound applies to what waits beside it. */
  #large = 0;

  /** @param maxBytes that may wait for the socket, here and in its own buffer, besides one larger message */
  constructor(sink: FrameSink, owner: SendQueueOwner, services: SendQueueServices, maxBytes: number) {
    this.#sink = sink;
    this.#owner = owner;
    this.#services = services;
    this.#maxBytes = maxBytes;
  }

  /** Bytes waiting, here and in the socket. */
  get waitingBytes(): number {
    return (this.#queue?.bytes ?? 0) + (this.#late?.bytes ?? 0) + this.#sink.waitingBytes;
  }

  /** The bytes that are copied for this socket alone: what waits here is mostly shared with others. */
  get copiedBytes(): number {
    return this.#sink.waitingBytes;
  }

  /** Since when the socket has not taken everything, ms since 1970; undefined: it has. */
  get slowSince(): number | undefined {
    return this.#slowSince;
  }

  /** Whether more than half of the limit still waits after writing as much as the socket takes. */
  get isBehind(): boolean {
    return this.isTooMuch(this.#maxBytes / 2);
  }

  /** Whether results that may be left out have to wait outside the queue: the socket takes no more, or others already do. */
  get isSlow(): boolean {
    return this.#draining || this.#late !== undefined || this.isBehind;
  }

  /** Releases the waiting messages, before a close that must not take more memory. */
  drop(): void {
    this.#late = undefined;
    this.#queue = undefined;
  }

  /**
   * Whether more than the limit still waits after writing as much as the socket takes: a burst in one turn is not slowness.
   *
   * @param more bytes that are about to be written, or added
   */
  isTooMuch(more: number): boolean {
    if (!this.#exceeds(more)) return false;
    this.flush();
    return this.#exceeds(more);
  }

  /** @param id as it stands in frames */
  add(result: SerializedResult, id: string): void {
    if ((this.#draining || this.#queue === undefined) && !this.#sink.open) return;
    if (this.#draining) result.keep();
    const queue = this.#put(result, id);
    // The bytes in the socket itself are checked at each write: reading them for each message would cost too much.
    if ((this.#draining || queue.bytes > this.#maxBytes) && this.isTooMuch(0)) this.#overflow();
  }

  /** Adds a result that waits for a slow socket, and leaves out others of the subscription if they take too much. */
  addLate(receiver: LateReceiver, result: SerializedResult): void {
    if (!this.#sink.open) return;
    result.shared.keep();
    if (!this.#draining && this.#queue === undefined && this.#late === undefined) this.#services.enlist(this);
    this.#late ??= new LateQueue(this.#sink.format);
    this.#trackLarge(heldBytes(this.#sink.format, result, receiver.id.length));
    const superseded = this.#late.add(receiver, result);
    if (superseded !== undefined) this.#services.leftOut(superseded, receiver);
    if (receiver.onSlow === 'DROP_OLDEST') {
      while (this.isTooMuch(this.#maxBytes / 2)) {
        const dropped = this.#late?.dropOldest(receiver);
        if (dropped === undefined) break;
        this.#services.leftOut(dropped, receiver);
      }
    }
    if (this.isTooMuch(0)) this.#overflow();
  }

  /** The subscription ends: its late results go into the queue, before the message that says so. */
  release(receiver: LateReceiver): void {
    for (let next = this.#late?.take(receiver); next !== undefined; next = this.#late?.take(receiver)) {
      this.#put(next.result, next.id);
    }
    if (this.#late?.isEmpty === true) this.#late = undefined;
  }

  /** The client wants no more of a subscription: its late results are not sent. */
  discard(receiver: LateReceiver): void {
    this.#late?.drop(receiver);
    if (this.#late?.isEmpty === true) this.#late = undefined;
  }

  /** Sends a message of the protocol after everything that has been added. */
  send(text: string): void {
    this.flush();
    if (!this.#sink.open) return;
    this.#trackLarge(text.length);
    if (this.isTooMuch(text.length)) this.#overflow();
    else if (this.#queue !== undefined) this.#queue.add(text, '', text.length);
    else if (!this.#sink.full) this.#sink.send(text);
    else {
      this.#queue = new PendingFrames(this.#sink.format, text, '', text.length);
      this.flush();
    }
  }

  /**
   * Writes the queue, as far as the socket takes it; the rest follows when the socket has drained.
   *
   * @returns bytes written
   */
  flush(): number {
    if (this.#draining) return 0;
    let written = 0;
    // Late results are taken in parts, as later ones may supersede the rest.
    for (let queue = this.#queue ?? this.#nextLate(); queue !== undefined; queue = this.#nextLate()) {
      this.#queue = queue;
      const { bytes } = queue;
      while (this.#sink.open && queue.next < queue.messages.length) {
        if (this.#sink.full) {
          this.#waitForDrain(queue);
          return written + bytes - queue.bytes;
        }
        this.#writeSome(queue);
      }
      this.#queue = undefined;
      written += bytes - queue.bytes;
      if (!this.#sink.open) break;
    }
    if (this.#slowSince !== undefined) {
      this.#slowSince = undefined;
      if (this.#sink.open) this.#services.caughtUp(this);
    }
    return written;
  }

  /** Writes all that is queued before an orderly close, however slow the socket is. */
  finish(): void {
    const queue = this.#queue;
    this.#queue = undefined;
    for (let some = queue ?? this.#nextLate(); some !== undefined; some = this.#nextLate()) {
      while (this.#sink.open && some.next < some.messages.length) this.#writeSome(some);
    }
  }

  /** Takes as many late results as one write carries. */
  #nextLate(): PendingFrames | undefined {
    let queue: PendingFrames | undefined;
    while (queue === undefined || queue.bytes < MAX_BATCH_BYTES) {
      const next = this.#late?.take();
      if (next === undefined) break;
      const bytes = heldBytes(this.#sink.format, next.result, next.id.length);
      if (queue === undefined) queue = new PendingFrames(this.#sink.format, next.result, next.id, bytes);
      else queue.add(next.result, next.id, bytes);
    }
    if (this.#late?.isEmpty === true) this.#late = undefined;
    return queue;
  }

  #put(result: SerializedResult, id: string): PendingFrames {
    const { format } = this.#sink;
    const bytes = heldBytes(format, result, id.length);
    this.#trackLarge(bytes);
    if (this.#queue === undefined) {
      this.#queue = new PendingFrames(format, result, id, bytes);
      this.#services.enlist(this);
    } else {
      this.#queue.add(result, id, bytes);
    }
    return this.#queue;
  }

  #waitForDrain(queue: PendingFrames): void {
    queue.dropWritten();
    for (const message of queue.messages) if (typeof message !== 'string') message.keep();
    this.#draining = true;
    this.#slowSince ??= this.#services.now();
    this.#sink.onceDrained(() => {
      this.#draining = false;
      // Not at once: many may have drained in this turn.
      if (this.#queue !== undefined || this.#late !== undefined) this.#services.enlist(this);
    });
    if (this.#exceeds(0)) this.#overflow();
  }

  #writeSome(queue: PendingFrames): void {
    const { next } = queue;
    const message = queue.messages[next];
    if (typeof message === 'string') {
      queue.written(next + 1, message.length);
      this.#sink.send(message);
    } else if (message !== undefined && message.json.length > MAX_BATCH_BYTES) {
      const id = queue.ids[next] ?? '';
      queue.written(next + 1, heldBytes(queue.format, message, id.length));
      this.#sink.writePieces(queue.format.pieces(message, id));
    } else {
      this.#services.frameBatches.write(queue, this.#sink);
    }
    if (this.#sink.wrote === undefined) return;
    for (let index = next; index < queue.next; index += 1) {
      const written = queue.messages[index];
      if (typeof written === 'object') this.#sink.wrote(written);
    }
  }

  #exceeds(more: number): boolean {
    const bytes = this.waitingBytes + more;
    if (bytes > this.#maxBytes) return bytes > this.#maxBytes + this.#large;
    this.#large = 0;
    return false;
  }

  #trackLarge(bytes: number): void {
    if (this.#large > 0) this.#exceeds(0);
    if (bytes > this.#maxBytes) this.#large = Math.max(this.#large, bytes);
  }

  #overflow(): void {
    if (!this.#sink.open) return;
    this.drop();
    this.#owner.overflow();
  }
}
