import type { ExecutionResult } from 'graphql';
import { ReadSet } from '../lazy/reads.ts';
import { Bucketing, type Bucketings } from './viewer-partition.ts';
import type { Member } from './subscriber.ts';
import { Payload } from './result.ts';

/** Executes an event for one viewer; what it reads of the viewer is in `reads` when the result is there. */
export type Execute = (member: Member, reads: ReadSet) => ExecutionResult | Promise<ExecutionResult>;

interface ServingOptions {
  readonly execute: Execute;
  readonly bucketings: Bucketings<Member>;
  /** Is the event for this one? Not for who has left, nor for who has come after it. */
  readonly wants: (member: Member) => boolean;
  /** Runs `start` when an execution may begin. */
  readonly whenFree: (start: () => void) => void;
  readonly settle: (members: ReadonlySet<Member>, payload: Payload) => void;
  /** An execution is needed only because these two differ in something that was read. */
  readonly unshared: (one: Member, other: Member, reads: ReadSet) => void;
  /** All candidates are settled. May be called within `start`. */
  readonly ended: () => void;
}

/**
 * One event for one group: executed as few times as what it reads of the viewers allows.
 *
 *     serve(candidates):
 *       execute for the first of them               what has it read?
 *       nothing that tells candidates apart  ──►    all of them get the bytes
 *       otherwise                            ──►    those who agree with the first get the bytes;
 *                                                   the others are served, bucket by bucket, in the same way
 *
 * An execution that has turned asynchronous is looked at before it is over: who differs from its viewer in what it
 * has read so far can't share it whatever follows, and is served at once. So nobody waits for a back end that only
 * others need.
 *
 * Sets of members may change while executions run: who has come meanwhile, or left, is not served by whoever settles.
 *
 * Sound for resolvers that depend on nothing but event, arguments, viewer and back ends: who agrees with an execution
 * on all that it read would have taken the same course.
 */
export class Serving {
  readonly #options: ServingOptions;
  /** Executions that have not settled their candidates, begun or not; and one for the beginning itself. */
  #open = 1;

  constructor(options: ServingOptions) {
    this.#options = options;
  }

  /** @param all whether these are the members that the bucketings know */
  start(candidates: ReadonlySet<Member>, all: boolean): void {
    if (candidates.size > 0) this.#serve(candidates, all, undefined);
    this.#close();
  }

  /** Executes for each alone, whatever is read. */
  startUnshared(candidates: ReadonlySet<Member>): void {
    for (const member of candidates) this.#serve(new Set([member]), false, undefined);
    this.#close();
  }

  /** @param agreed what all candidates are known to agree on */
  #serve(candidates: ReadonlySet<Member>, all: boolean, agreed: ReadSet | undefined): void {
    this.#open += 1;
    this.#options.whenFree(() => this.#execute(candidates, all, agreed));
  }

  #execute(candidates: ReadonlySet<Member>, all: boolean, agreed: ReadSet | undefined): void {
    const first = this.#wanting(candidates);
    if (first === undefined) {
      this.#close();
      return;
    }
    const reads = new ReadSet();
    const result = this.#options.execute(first, reads);
    if (!(result instanceof Promise)) {
      this.#finish(first, candidates, all, agreed, reads, result);
      return;
    }
    const soFar = reads.snapshot();
    const sharing = this.#split(first, candidates, all, agreed, soFar);
    void this.#await(result, (settled) =>
      this.#finish(first, sharing, sharing === candidates && all, soFar, reads, settled),
    );
  }

  async #await(result: Promise<ExecutionResult>, finish: (settled: ExecutionResult) => void): Promise<void> {
    finish(await result);
  }

  #finish(
    first: Member,
    candidates: ReadonlySet<Member>,
    all: boolean,
    agreed: ReadSet | undefined,
    reads: ReadSet,
    result: ExecutionResult,
  ): void {
    // A result may hold lazy values, or the viewer itself: serialising it reads too, so it comes before the sharing.
    const payload = new Payload(result);
    const sharing = this.#split(first, candidates, all, agreed, reads);
    this.#options.settle(sharing, payload);
    this.#close();
  }

  /** Sees to it that all who differ from the first are served otherwise. @returns those who agree with it */
  #split(
    first: Member,
    candidates: ReadonlySet<Member>,
    all: boolean,
    agreed: ReadSet | undefined,
    reads: ReadSet,
  ): ReadonlySet<Member> {
    if (reads.size === 0 || agreed?.covers(reads) === true) return candidates;
    // The first may have left meanwhile: who remains alone need not be like it.
    if (candidates.size === 1 && candidates.has(first)) return candidates;
    const { bucketings, unshared } = this.#options;
    const bucketing = all ? bucketings.of(reads) : new Bucketing(reads.snapshot(), candidates);
    const sharing = bucketing.like(first.viewer);
    for (const bucket of bucketing.buckets) {
      if (bucket === sharing) continue;
      const other = this.#wanting(bucket);
      if (other === undefined) continue;
      unshared(first, other, reads);
      this.#serve(bucket, false, bucketing.reads);
    }
    return sharing;
  }

  #wanting(members: ReadonlySet<Member>): Member | undefined {
    for (const member of members) if (this.#options.wants(member)) return member;
    return undefined;
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#options.ended();
  }
}
