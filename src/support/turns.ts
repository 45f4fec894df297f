import { LinkedQueue, type Place } from './linked-queue.ts';

/** A share of the event loop. */
export interface LoopShare {
  /** ms of the event loop in a second. Default: that of `Turns`. */
  readonly msPerSecond?: number;
  /** After a quiet time, the share of this many ms may be taken at once. Default: BURST_MS. */
  readonly burstMs?: number;
  /** The share is spent up to this time, in ms of a monotonic clock; 0 at first. Only Turns sets it. */
  spentUntil: number;
}

/** An owner of jobs, such as a connection. */
export interface TurnTaker extends LoopShare {
  /** A share that the owner has in common with other owners, beside its own: that of its address. */
  readonly commonShare?: LoopShare | undefined;
  /** Called when a job has to wait: the owner should hand over no more jobs for now. */
  hold(): void;
  /** Called when no job waits any more: all jobs have run, or were dropped. */
  resume(): void;
  /** Called when a job is dropped, as the maximum number of jobs waits. */
  overrun(): void;
}

/**
 * Runs at once.
 *
 * @returns seconds of the owner's share that the job takes at least
 */
export type Job = () => number;

/** The turns of one owner. */
export interface OwnTurns {
  /** Runs the job in a turn of the owner, as `Turns` describes. */
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
 * Time for all jobs together in one turn of the event loop. Timers and other sockets need turns too: an event takes
 * several turns from Kafka to the sockets.
 */
const TURN_MS = 5;
/** Added to the time of a job that is followed by unmeasured work: four of these jobs end a turn. */
const UNMEASURED_MS = TURN_MS / 4;
/**
 * In its turn, an owner runs jobs until they have taken this long. With one job a turn, an owner of quick jobs would
 * wait for the 10 ms jobs of other owners before each of its own, and its queue would grow.
 */
const QUICK_MS = 1;
/** After a quiet time, an owner may take its share of this many ms at once. */
const BURST_MS = 5_000;
/** Naps of owners past their share are multiples of this, so that few timers are made. */
const NAP_MS = 50;

/**
 * Limits how much of the event loop each owner of jobs takes. A job runs at once while the turn of the loop has room
 * and the owner has not spent its share. Otherwise the job waits: owners take turns, with one job or a few quick jobs:
 *
 *     jobs ─┬─ at once
 *           └─ queue of the owner ─ ready (round robin) ─ setImmediate, about 5 ms a turn
 *                                 └ past its share: naps until it has a share again
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
  /** Whether the end of this turn is scheduled. */
  #ending = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  holds(owner: TurnTaker): boolean {
    return this.#queues.has(owner);
  }

  /**
   * @param most jobs of this owner that may wait
   * @returns the place of a waiting job, for `leave`; undefined: the job has run, or was dropped
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

  /** @param place of a job that has not run and shall not run */
  leave(owner: TurnTaker, place: Place<Job>): void {
    const queue = this.#queues.get(owner);
    queue?.remove(place);
    if (queue?.size === 0) this.forget(owner);
  }

  /** Counts time of the event loop that was taken for an owner, but not by one of its jobs. */
  charge(owner: TurnTaker, ms: number): void {
    this.#count(owner, this.#options.now() - ms, ms, 0);
  }

  /** Called by a job that unmeasured work follows, such as sending its result: few of these jobs run in one turn. */
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

  /** @param least seconds that the job takes of the owner's own share at least */
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
      // The job may have dropped the owner's queue, and jobs added since have a new one.
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
