import { LinkedQueue, type Place } from './linked-queue.ts';

/** A share of the event loop. */
export interface LoopShare {
  /** ms of the event loop in a second; if it is left out, as many as any other. */
  readonly msPerSecond?: number;
  /** Once it has been quiet, it is worth so many ms at once; if it is left out, as any other. */
  readonly burstMs?: number;
  /** When it is worth nothing any more, in ms of a monotonic clock; 0 at first. Turns alone sets it. */
  spentUntil: number;
}

/** One that hands over jobs: a connection, say. */
export interface TurnTaker extends LoopShare {
  /** One that it has in common with others, beside its own: that of its address. */
  readonly commonShare?: LoopShare | undefined;
  /** A job of it has to wait: it is to hand over no more, for now. */
  hold(): void;
  /** All jobs that waited have run. */
  resume(): void;
  /** More jobs wait than may; this one is dropped. */
  overrun(): void;
}

/**
 * Runs at once.
 *
 * @returns the least part of its owner's share that it takes, in seconds
 */
export type Job = () => number;

/** The turns of one owner. */
export interface OwnTurns {
  /** Runs the job in a turn of the owner's: see `Turns`. */
  run(job: () => void): void;
  charge(ms: number): void;
  countUnmeasured(): void;
}

interface TurnsOptions {
  /** ms of the event loop that one owner may take in a second, unless it has a share of its own. */
  readonly msPerSecond: number;
  /** A monotonic clock. */
  readonly now: () => number;
}

/**
 * All jobs together take about so long in one turn of the event loop, so that timers and other sockets have theirs: an
 * event takes several turns from Kafka to the sockets.
 */
const TURN_MS = 5;
/** A job counts as so much more of a turn if much may follow it: four of them end one. */
const UNMEASURED_MS = TURN_MS / 4;
/**
 * An owner whose turn it is runs jobs until they have taken so long: where others have jobs of 10 ms, one with quick ones would
 * wait for all of them before each, and have ever more that wait.
 */
const QUICK_MS = 1;
/** What an owner that has been quiet may take at once: its share of so many ms. */
const BURST_MS = 5_000;
/** Owners past their share are looked at so often, so that few timers are made. */
const NAP_MS = 50;

/**
 * Bounds what each owner of jobs takes of the event loop. A job runs at once while the turn of the loop has room and
 * its owner has not spent its share; else it waits, and owners with jobs that wait take turns, one job each, or several quick ones:
 *
 *     jobs ─┬─ at once
 *           └─ queue of the owner ─ ready (round robin) ─ setImmediate, about 5 ms a turn
 *                                 └ past its share: naps until it is worth something again
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #queues = new Map<TurnTaker, LinkedQueue<Job>>();
  /** Owners in the order of their turns. */
  readonly #ready = new Set<TurnTaker>();
  /** The timers of owners past their share. */
  readonly #naps = new Map<TurnTaker, NodeJS.Timeout>();
  /** ms that jobs have taken in this turn of the event loop. */
  #spent = 0;
  /** The end of this turn has been asked for. */
  #ending = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  holds(owner: TurnTaker): boolean {
    return this.#queues.has(owner);
  }

  /**
   * @param most jobs of this owner that may wait
   * @returns the place of a job that waits, which may leave it; undefined: it has run, or was dropped
   */
  run(owner: TurnTaker, job: Job, most = Infinity): Place<Job> | undefined {
    const queue = this.#queues.get(owner);
    if (queue === undefined) {
      if (this.#spent < TURN_MS && this.#nap(owner) === 0) {
        this.#run(owner, job);
        return undefined;
      }
      const place = this.#open(owner).push(job);
      owner.hold();
      return place;
    }
    if (queue.size < most) return queue.push(job);
    owner.overrun();
    return undefined;
  }

  /** @param place of a job that has not run, and is not to */
  leave(owner: TurnTaker, place: Place<Job>): void {
    const queue = this.#queues.get(owner);
    queue?.remove(place);
    if (queue?.size === 0) this.forget(owner);
  }

  /** Counts time of the event loop that was taken for an owner, though not by a job of it. */
  charge(owner: TurnTaker, ms: number): void {
    this.#count(owner, this.#options.now() - ms, ms, 0);
  }

  /** The present job has something follow that is not measured, such as the sending of its result: few of its kind run in a turn. */
  countUnmeasured(): void {
    this.#spent += UNMEASURED_MS;
    this.#endTurnLater();
  }

  of(owner: TurnTaker): OwnTurns {
    return {
      run: (job) => {
        this.run(owner, () => {
          job();
          return 0;
        });
      },
      charge: (ms) => this.charge(owner, ms),
      countUnmeasured: () => this.countUnmeasured(),
    };
  }

  /** Drops the jobs of an owner. */
  forget(owner: TurnTaker): void {
    this.#ready.delete(owner);
    clearTimeout(this.#naps.get(owner));
    this.#naps.delete(owner);
    if (this.#queues.delete(owner)) owner.resume();
  }

  #open(owner: TurnTaker): LinkedQueue<Job> {
    const queue = new LinkedQueue<Job>();
    this.#queues.set(owner, queue);
    this.#ready.add(owner);
    this.#endTurnLater();
    return queue;
  }

  /** @param least part of the owner's own share that it has taken, in seconds */
  #count(owner: TurnTaker, began: number, took: number, least: number): void {
    this.#spent += took;
    this.#spend(owner, began, took, least);
    if (owner.commonShare !== undefined) this.#spend(owner.commonShare, began, took, 0);
    this.#endTurnLater();
  }

  #spend(share: LoopShare, began: number, took: number, least: number): void {
    const seconds = Math.max(least, took / (share.msPerSecond ?? this.#options.msPerSecond));
    share.spentUntil = Math.max(share.spentUntil, began) + 1_000 * seconds;
  }

  #run(owner: TurnTaker, job: Job): void {
    const began = this.#options.now();
    let least = 0;
    try {
      least = job();
    } finally {
      this.#count(owner, began, this.#options.now() - began, least);
    }
  }

  /** ms until the owner has a share again. */
  #nap(owner: TurnTaker): number {
    const { commonShare } = owner;
    const nap = this.#napOf(owner);
    return commonShare === undefined ? nap : Math.max(nap, this.#napOf(commonShare));
  }

  #napOf({ spentUntil, burstMs = BURST_MS }: LoopShare): number {
    return spentUntil === 0 ? 0 : Math.max(0, spentUntil - this.#options.now() - burstMs);
  }

  #endTurnLater(): void {
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(() => {
      this.#ending = false;
      this.#spent = 0;
      this.#runReady();
    });
  }

  #runReady(): void {
    for (const owner of this.#ready) {
      if (this.#spent >= TURN_MS) break;
      this.#ready.delete(owner);
      const nap = this.#nap(owner);
      if (nap > 0) this.#wakeLater(owner, nap);
      else this.#runNext(owner);
    }
    if (this.#ready.size > 0) this.#endTurnLater();
  }

  #runNext(owner: TurnTaker): void {
    const queue = this.#queues.get(owner);
    const before = this.#spent;
    do {
      const job = queue?.shift();
      if (job !== undefined) this.#run(owner, job);
      // The job may have closed the owner, or added others.
      if (this.#queues.get(owner) !== queue) return;
      if (queue?.size === 0) {
        this.forget(owner);
        return;
      }
    } while (this.#spent - before < QUICK_MS && this.#nap(owner) === 0);
    this.#ready.add(owner);
  }

  #wakeLater(owner: TurnTaker, ms: number): void {
    const wake = (): void => {
      this.#naps.delete(owner);
      this.#ready.add(owner);
      this.#endTurnLater();
    };
    this.#naps.set(owner, setTimeout(wake, Math.ceil(ms / NAP_MS) * NAP_MS).unref());
  }
}
