import { frameLength, framePieces } from './frame.ts';
import type { Payload } from '../../hub/result.ts';
import { LARGEST_RUN, type Queued, type Runs } from './frame-batch.ts';

/** One socket as an outbox sees it. */
export interface Wire {
  /** False from the moment that nothing may be written any more. */
  readonly open: boolean;
  /** Bytes handed to the socket that it has not been able to send yet. */
  readonly waitingBytes: number;
  /** The socket holds as much as it should: what is written now would only wait in it. */
  readonly full: boolean;
  /** Calls back once, when it is no longer full. Not if it closes before. */
  onceDrained(drained: () => void): void;
  /** The first `length` bytes: whole frames. They may be changed as soon as this returns. */
  write(bytes: Buffer, length: number): void;
  /** One frame in pieces, that nobody changes. */
  writePieces(pieces: readonly Buffer[]): void;
  /** One message that is no frame yet. */
  send(text: string): void;
}

export interface OutboxOwner {
  /** More would wait than may, and has been dropped: the socket is to be closed. */
  overflow(): void;
}

/** What all outboxes of a process have in common. */
export interface OutboxServices {
  readonly runs: Runs;
  /** Sees to it that the outbox is flushed when the turn ends, or in one of the next if there are many. */
  enlist(outbox: Outbox): void;
}

/** Held by an outbox only while something is in it. */
class Queue implements Queued {
  payloads: (Payload | string)[];
  ids: string[];
  bytes: number;
  /** Where the first is that has not been written. */
  next = 0;

  /** With its first: an empty array that is pushed to makes room for seventeen. */
  constructor(payload: Payload | string, id: string, bytes: number) {
    this.payloads = [payload];
    this.ids = [id];
    this.bytes = bytes;
  }

  add(payload: Payload | string, id: string, bytes: number): void {
    this.payloads.push(payload);
    this.ids.push(id);
    this.bytes += bytes;
  }

  written(next: number, bytes: number): void {
    this.next = next;
    this.bytes -= bytes;
  }

  /** Lets go of what has been written. */
  cut(): void {
    this.payloads.splice(0, this.next);
    this.ids.splice(0, this.next);
    this.next = 0;
  }
}

/**
 * What one socket is about to be sent, as references to results that others are sent too.
 *
 *     deliver ──► queue ──end of turn──► one write (of 64 KiB at most)
 *                   │                         ▲
 *                   └── socket is full ──► drained
 *
 * A socket that takes no more keeps its own queue waiting and nobody else's. What waits in it and in the socket is
 * bounded; past that the queue is dropped and the socket closed.
 */
export class Outbox {
  readonly #wire: Wire;
  readonly #owner: OutboxOwner;
  readonly #services: OutboxServices;
  readonly #maxBytes: number;
  #queue: Queue | undefined;
  #draining = false;
  /** Of what waits, the largest message that is more than may wait: beside it no less may wait than otherwise. */
  #large = 0;

  /** @param maxBytes that may wait for the socket, here and in its own buffer, beside one message that is larger */
  constructor(wire: Wire, owner: OutboxOwner, services: OutboxServices, maxBytes: number) {
    this.#wire = wire;
    this.#owner = owner;
    this.#services = services;
    this.#maxBytes = maxBytes;
  }

  /** Bytes that wait, here and in the socket. */
  get waitingBytes(): number {
    return (this.#queue?.bytes ?? 0) + this.#wire.waitingBytes;
  }

  /**
   * Does more wait than may, though all has been written that the socket takes? A burst within one turn is no slowness.
   *
   * @param more bytes that are about to be written, or added
   */
  isTooMuch(more: number): boolean {
    if (!this.#exceeds(more)) return false;
    this.flush();
    return this.#exceeds(more);
  }

  /** @param id as `idText` makes it */
  add(payload: Payload, id: string): void {
    if ((this.#draining || this.#queue === undefined) && !this.#wire.open) return;
    if (this.#draining) payload.keep();
    const bytes = frameLength(payload.json.length, id.length);
    this.#noteLarge(bytes);
    if (this.#queue === undefined) {
      this.#queue = new Queue(payload, id, bytes);
      this.#services.enlist(this);
    } else {
      this.#queue.add(payload, id, bytes);
    }
    // Whether what the socket holds is too much is seen when it is to be written to: it would cost a look at each.
    if ((this.#draining || this.#queue.bytes > this.#maxBytes) && this.isTooMuch(0)) this.#overflow();
  }

  /** Sends a message of the protocol behind all that has been added. */
  send(text: string): void {
    this.flush();
    if (!this.#wire.open) return;
    this.#noteLarge(text.length);
    if (this.isTooMuch(text.length)) this.#overflow();
    else if (this.#queue !== undefined) this.#queue.add(text, '', text.length);
    else if (!this.#wire.full) this.#wire.send(text);
    else {
      this.#queue = new Queue(text, '', text.length);
      this.flush();
    }
  }

  /**
   * Writes what has been gathered, as far as the socket takes it; the rest follows when it has drained.
   *
   * @returns how many bytes it has written
   */
  flush(): number {
    const queue = this.#queue;
    if (queue === undefined || this.#draining) return 0;
    const { bytes } = queue;
    while (this.#wire.open && queue.next < queue.payloads.length) {
      if (this.#wire.full) {
        this.#await(queue);
        return bytes - queue.bytes;
      }
      this.#writeSome(queue);
    }
    this.#queue = undefined;
    return bytes - queue.bytes;
  }

  /** The socket is being closed in order: what has been added goes out before, however slow the socket is. */
  finish(): void {
    const queue = this.#queue;
    this.#queue = undefined;
    if (queue === undefined) return;
    while (this.#wire.open && queue.next < queue.payloads.length) this.#writeSome(queue);
  }

  #await(queue: Queue): void {
    queue.cut();
    for (const payload of queue.payloads) if (typeof payload !== 'string') payload.keep();
    this.#draining = true;
    this.#wire.onceDrained(() => {
      this.#draining = false;
      // Not at once: many may have drained in this turn.
      if (this.#queue !== undefined) this.#services.enlist(this);
    });
    if (this.#exceeds(0)) this.#overflow();
  }

  #writeSome(queue: Queue): void {
    const { next } = queue;
    const payload = queue.payloads[next];
    if (typeof payload === 'string') {
      queue.written(next + 1, payload.length);
      this.#wire.send(payload);
    } else if (payload !== undefined && payload.json.length > LARGEST_RUN) {
      const id = queue.ids[next] ?? '';
      queue.written(next + 1, frameLength(payload.json.length, id.length));
      this.#wire.writePieces(framePieces(payload.json, id));
    } else {
      this.#services.runs.write(queue, this.#wire);
    }
  }

  #exceeds(more: number): boolean {
    const bytes = this.waitingBytes + more;
    if (bytes > this.#maxBytes) return bytes > this.#maxBytes + this.#large;
    this.#large = 0;
    return false;
  }

  #noteLarge(bytes: number): void {
    if (this.#large > 0) this.#exceeds(0);
    if (bytes > this.#maxBytes) this.#large = Math.max(this.#large, bytes);
  }

  #overflow(): void {
    if (!this.#wire.open) return;
    this.#queue = undefined;
    this.#owner.overflow();
  }
}
