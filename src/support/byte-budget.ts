import type { WorkOwner } from './fair-limiter.ts';
import { LinkedQueue, type Place } from './linked-queue.ts';

/** A part of the process that holds bytes: those of histories that are read, say. */
export interface SourceBounds {
  /** No other source takes these. */
  readonly least: number;
  /** What one owner may hold. Default: what there is. */
  readonly mostOfOwner?: number;
}

/** Bytes that an owner may hold until it gives them back. */
export interface Reservation {
  readonly bytes: number;
  /**
   * Changes how many they are, now or not at all: less always fits.
   *
   * @returns false if there is no room; then as many are reserved as before
   */
  resize(bytes: number): boolean;
  /** Gives them back. Calling it again does nothing. */
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly start: (reservation: Reservation) => void;
}

/** What one owner holds and waits for. */
interface Share {
  readonly owner: WorkOwner;
  held: number;
  readonly waiting: LinkedQueue<Waiting>;
  /** Undefined if it waits for nothing, or for what it holds itself. */
  turn: Place<Share> | undefined;
}

/**
 * The bytes that a process may hold of what others send it, shared out between sources. They are reserved before they
 * are read, so that nothing grows within one turn of the event loop or one answer, where measuring memory comes too late.
 *
 *     total ┬─ least of source a
 *           ├─ least of source b
 *           └─ the rest: of those that hold more than their least
 *
 * What fits into a source's least gets its turn once the source has given back what it holds, whatever the others hold.
 * So work that has reserved must not wait for another reservation before it releases the first.
 */
export class ByteBudget {
  readonly #total: number;
  readonly #sources: ByteSource[] = [];
  #leasts = 0;
  /** What sources hold beyond their least, together. */
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

  /** @returns false if a source may not hold as much */
  #move(least: number, before: number, after: number): boolean {
    const more = Math.max(0, after - least) - Math.max(0, before - least);
    if (more > this.#total - this.#leasts - this.#beyond) return false;
    this.#beyond += more;
    // What one gives back of the rest, another may wait for.
    if (more < 0) for (const source of this.#sources) source.serve();
    return true;
  }
}

/** A source that has a budget to itself. */
export function ownBytes(bytes: number): ByteSource {
  return new ByteBudget(bytes).source({ least: bytes });
}

/** One source of a budget. Owners that wait take turns, one reservation each. */
export class ByteSource {
  /** What an owner may hold. */
  readonly mostOfOwner: number;
  /** What may be waited for. */
  readonly most: number;
  readonly #move: (before: number, after: number) => boolean;
  /** Owners that hold bytes, or wait for them. */
  readonly #shares = new Map<WorkOwner, Share>();
  readonly #turns = new LinkedQueue<Share>();
  #held = 0;
  #waiting = 0;
  #serving = false;

  /** @param move says whether the source may hold `after` where it holds `before`, and notes it if so */
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

  /** A reservation of no bytes yet. */
  empty(owner: WorkOwner): Reservation {
    return this.#reservation(owner, 0);
  }

  /** Reserves now or not at all: undefined if there is no room, or others wait for it. */
  tryReserve(bytes: number, owner: WorkOwner): Reservation | undefined {
    const isFree = this.#turns.size === 0 && !this.#shares.get(owner)?.waiting.size;
    return isFree && this.#grow(owner, bytes) ? this.#reservation(owner, bytes) : undefined;
  }

  /**
   * Reserves once there is room.
   *
   * @param bytes at most `most`
   * @throws the signal's reason if it aborts first; RangeError if it is more than may be waited for
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

  /** Starts those that wait and have room now. The budget calls it too, where another source has given back. */
  serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    try {
      while (this.#startNext());
    } finally {
      this.#serving = false;
    }
  }

  /** @returns false if nothing waits for its turn, or the first has no room */
  #startNext(): boolean {
    const share = this.#turns.first;
    const next = share?.waiting.first;
    if (share === undefined || next === undefined) return false;
    const mayStart = this.#grow(share.owner, next.bytes);
    // The owner's own share may have been used up since, which holds nobody else up.
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

  /** @returns false if neither the owner nor the source may hold as much: then nothing has changed */
  #grow(owner: WorkOwner, bytes: number): boolean {
    const share = this.#shareOf(owner);
    const before = this.#held;
    // Noted first: the budget may serve others within the call.
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

  /** The owner holds less, or waits for less. */
  #changed(share: Share): void {
    if (share.waiting.size === 0) this.#leaveTurns(share);
    this.#queue(share);
    this.#closeIfIdle(share);
    this.serve();
  }

  /** Has an owner take its turn, unless it waits for nothing but what it holds itself. */
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
