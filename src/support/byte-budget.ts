import type { WorkOwner } from './fair-limiter.ts';
import { LinkedQueue, type Place } from './linked-queue.ts';

/** Limits of one part of the process that holds bytes, such as the bytes of histories that are read. */
export interface SourceBounds {
  /** Bytes that no other source can take. */
  readonly least: number;
  /** Maximum bytes of one owner. Default: the budget's total. */
  readonly mostOfOwner?: number;
}

/** Bytes that an owner may hold until it gives them back. */
export interface Reservation {
  readonly bytes: number;
  /**
   * Changes the number of bytes, now or not at all. A lower number always fits.
   *
   * @returns false if there is no room; the number is then unchanged
   */
  resize(bytes: number): boolean;
  /** Gives all bytes back. Another call does nothing. */
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly start: (reservation: Reservation) => void;
}

/** One owner's bytes and waiting reservations. */
interface Share {
  readonly owner: WorkOwner;
  held: number;
  readonly waiting: LinkedQueue<Waiting>;
  /** Undefined if nothing waits, or the owner must first give back bytes that it holds itself. */
  turn: Place<Share> | undefined;
}

/**
 * Limits the bytes of received data that a process holds, and divides them between sources. A source reserves bytes
 * before it reads them: measuring memory would be too late within one turn of the event loop, or within one answer.
 *
 *     total ┬─ least of source a
 *           ├─ least of source b
 *           └─ the rest: for sources that hold more than their least
 *
 * A reservation that fits into its source's least waits for releases of the same source only, however much other
 * sources hold. So work that holds a reservation must not wait for another reservation before it releases the first.
 */
export class ByteBudget {
  readonly #total: number;
  readonly #sources: ByteSource[] = [];
  #leasts = 0;
  /** Bytes that all sources together hold beyond their leasts. */
  #beyond = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** @throws RangeError if the sources' leasts exceed the total */
  source({ least, mostOfOwner = this.#total }: SourceBounds): ByteSource {
    this.#leasts += least;
    if (this.#leasts > this.#total) {
      throw new RangeError(`expected sources of at most ${this.#total} bytes, got ${this.#leasts}`);
    }
    const source = new ByteSource({ least, mostOfOwner }, (before, after) =>
      this.#move(least, before, after),
    );
    this.#sources.push(source);
    return source;
  }

  /** @returns false if the budget has no room for the change of one source */
  #move(least: number, before: number, after: number): boolean {
    const more = Math.max(0, after - least) - Math.max(0, before - least);
    if (more > this.#total - this.#leasts - this.#beyond) return false;
    this.#beyond += more;
    // Another source may wait for bytes of the rest that this source gives back.
    if (more < 0) for (const source of this.#sources) source.serve();
    return true;
  }
}

/** Makes a source with a budget of its own. */
export function ownBytes(bytes: number): ByteSource {
  return new ByteBudget(bytes).source({ least: bytes });
}

/** One source of a budget. Owners that wait take turns, one reservation each. */
export class ByteSource {
  /** Maximum bytes of one owner. */
  readonly mostOfOwner: number;
  /** Maximum bytes of one call of `reserve`. */
  readonly most: number;
  readonly #move: (before: number, after: number) => boolean;
  /** Owners that hold bytes, or wait for them. */
  readonly #shares = new Map<WorkOwner, Share>();
  readonly #turns = new LinkedQueue<Share>();
  #held = 0;
  #waiting = 0;
  #serving = false;

  /** @param move tells whether the source may hold `after` bytes instead of `before`, and if so notes the change */
  constructor(
    { least, mostOfOwner }: Required<SourceBounds>,
    move: (before: number, after: number) => boolean,
  ) {
    this.mostOfOwner = mostOfOwner;
    this.most = Math.min(least, mostOfOwner);
    this.#move = move;
  }

  /** Bytes. */
  get held(): number {
    return this.#held;
  }

  /** Reservations that have no room yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Makes a reservation of no bytes, which can grow. */
  empty(owner: WorkOwner): Reservation {
    return this.#reservation(owner, 0);
  }

  /** Reserves now or not at all. @returns undefined if there is no room, or earlier reservations wait for room */
  tryReserve(bytes: number, owner: WorkOwner): Reservation | undefined {
    const isFree = this.#turns.size === 0 && !this.#shares.get(owner)?.waiting.size;
    return isFree && this.#grow(owner, bytes) ? this.#reservation(owner, bytes) : undefined;
  }

  /**
   * Reserves once there is room.
   *
   * @param bytes at most `most`
   * @throws the signal's reason if the signal aborts first; RangeError if `bytes` is more than `most`
   */
  async reserve(bytes: number, owner: WorkOwner, signal?: AbortSignal): Promise<Reservation> {
    if (bytes > this.most) throw new RangeError(`expected at most ${this.most} bytes, got ${bytes}`);
    signal?.throwIfAborted();
    const reserved = this.tryReserve(bytes, owner);
    if (reserved !== undefined) return reserved;
    return new Promise((resolve, reject) => {
      const share = this.#shareOf(owner);
      const place = share.waiting.push({
        bytes,
        start: (reservation) => {
          signal?.removeEventListener('abort', leave);
          resolve(reservation);
        },
      });
      const leave = (): void => {
        share.waiting.remove(place);
        this.#waiting -= 1;
        this.#changed(share);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting += 1;
      this.#queue(share);
    });
  }

  /** Starts waiting reservations that have room now. The budget calls this too, when a source has given bytes back. */
  serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    try {
      while (this.#startNext());
    } finally {
      this.#serving = false;
    }
  }

  /** @returns false if no owner waits for its turn, or the first reservation has no room */
  #startNext(): boolean {
    const share = this.#turns.first;
    const next = share?.waiting.first;
    if (share === undefined || next === undefined) return false;
    const mayStart = this.#grow(share.owner, next.bytes);
    // If the owner has meanwhile reached its own limit, it leaves the turns, and other owners do not wait for it.
    if (!mayStart && this.#hasRoom(share, next.bytes)) return false;
    this.#leaveTurns(share);
    if (mayStart) {
      share.waiting.shift();
      this.#waiting -= 1;
      this.#changed(share);
      next.start(this.#reservation(share.owner, next.bytes));
    }
    return true;
  }

  #reservation(owner: WorkOwner, bytes: number): Reservation {
    let reserved = bytes;
    const resize = (to: number): boolean => {
      const more = to - reserved;
      if (!this.#grow(owner, more)) return false;
      reserved = to;
      if (more < 0) this.#changed(this.#shareOf(owner));
      return true;
    };
    return {
      get bytes() {
        return reserved;
      },
      resize,
      release: () => void resize(0),
    };
  }

  /** @returns false if the owner or the source may not hold as much; nothing has then changed */
  #grow(owner: WorkOwner, bytes: number): boolean {
    const share = this.#shareOf(owner);
    const before = this.#held;
    // The numbers change first, since the budget may serve other owners within the call.
    this.#held += bytes;
    share.held += bytes;
    const fits = share.held <= this.mostOfOwner && this.#move(before, this.#held);
    if (!fits) {
      this.#held -= bytes;
      share.held -= bytes;
    }
    this.#closeIfIdle(share);
    return fits;
  }

  /** Called when the owner holds fewer bytes, or waits for fewer. */
  #changed(share: Share): void {
    if (share.waiting.size === 0) this.#leaveTurns(share);
    this.#queue(share);
    this.#closeIfIdle(share);
    this.serve();
  }

  /** Queues an owner for a turn, unless it must first give back bytes that it holds itself. */
  #queue(share: Share): void {
    const next = share.waiting.first;
    if (next === undefined || share.turn !== undefined) return;
    if (this.#hasRoom(share, next.bytes)) share.turn = this.#turns.push(share);
  }

  #hasRoom({ held }: Share, bytes: number): boolean {
    return held + bytes <= this.mostOfOwner;
  }

  #leaveTurns(share: Share): void {
    if (share.turn !== undefined) this.#turns.remove(share.turn);
    share.turn = undefined;
  }

  #shareOf(owner: WorkOwner): Share {
    const share = this.#shares.get(owner) ?? { owner, held: 0, waiting: new LinkedQueue(), turn: undefined };
    this.#shares.set(owner, share);
    return share;
  }

  #closeIfIdle(share: Share): void {
    if (share.held === 0 && share.waiting.size === 0) this.#shares.delete(share.owner);
  }
}
