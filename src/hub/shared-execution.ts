import type { ExecutionResult } from 'graphql';
import type { EventScope } from '../context/event-scope.ts';
import type { Message } from '../events/message.ts';
import type { GroupTrace } from './group-trace.ts';
import type { Delivery } from '../graph/graph.ts';
import { ReadSet, type Json } from '../lazy/reads.ts';
import type { Metrics } from '../metrics.ts';
import type { BoundedLabels } from '../support/bounded-labels.ts';
import type { FairLimiter, WorkOwner } from '../support/fair-limiter.ts';
import type { DeliveryOrder, PendingEvent } from './delivery-order.ts';
import { UNSHARED_FIELD } from './execution-costs.ts';
import { RunningExecution, type ExecutionRunner } from './execution-runner.ts';
import type { OpenExecution, OpenExecutions } from './open-executions.ts';
import type { PastViewers } from './past-viewers.ts';
import type { ReplayedResults } from './resume/replayed-results.ts';
import { SerializedResult } from './result.ts';
import type { SkippedEvents } from './skipped-events.ts';
import { workOwnerOf, type Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import { ViewerPartition, type ViewerPartitions } from './viewer-partition.ts';

/** The parts that execute and deliver one group's events. */
export interface GroupParts {
  readonly plan: SubscriptionPlan;
  readonly runner: ExecutionRunner;
  readonly partitions: ViewerPartitions;
  readonly pastViewers: PastViewers;
  readonly order: DeliveryOrder;
  readonly open: OpenExecutions;
  /** Bounds asynchronous executions. */
  readonly limiter: FairLimiter;
  /** Queues synchronous executions for which a turn of the event loop has no time. */
  readonly late: FairLimiter;
  readonly skipped: SkippedEvents;
  /** See `SerializedResult.key`; undefined if none of its results may be left out. */
  readonly keyOf: Delivery['keyOf'] | undefined;
  /** Whether its events are those that resuming subscribers have missed. */
  readonly isReplay: boolean;
  /** Connections are about to be closed: no execution waits for a place, or for a turn of the event loop. */
  readonly isAtOnce: boolean;
  /** The results of all groups. */
  readonly replayed: ReplayedResults;
  readonly metrics: Metrics;
  /** Paths of viewers, for a metric's label. */
  readonly paths: BoundedLabels;
}

/** The subscriber that an execution is for, and its viewer at the event: both may have changed when it is over. */
interface First {
  readonly subscriber: Subscriber;
  readonly viewer: Json;
}

/** Subscribers that may share one execution, as far as is known. */
export interface Candidates {
  readonly subscribers: ReadonlySet<Subscriber>;
  /** Whether these are all subscribers of the group, so that the group's own partitions can be used. */
  readonly isWholeGroup: boolean;
  /** What their viewers are known to agree on. */
  readonly agreedReads: ReadSet | undefined;
}

/** Subscribers that are looked at to find the owner of an execution: a group may have thousands. */
const MAX_OWNERS = 64;

/**
 * One event for one group: executed as few times as what it reads of the viewers allows.
 *
 *     share(candidates):
 *       execute for the first of them                    what has it read?
 *       nothing in which the candidates differ    ──►    all of them get the result
 *       otherwise                                 ──►    those who agree with the first get the result;
 *                                                        each other bucket of the partition is shared likewise
 *
 * What an asynchronous execution has read is checked before it is over: a subscriber whose viewer differs in that can't
 * share it, and gets its own execution at once. So no subscriber waits for a back end that only others need.
 *
 * Many groups may listen to the channel of an event. Once the turn of the event loop is at its limit, the executions of the
 * remaining groups wait for the next turns, which serve clients in rotation: none waits for all groups of another client.
 *
 * An execution serves several clients, and counts as work of the one with the least work. So a client that joins a group of
 * others does not make their executions wait behind its own.
 *
 * Sets of subscribers may change while executions run; DeliveryOrder leaves out those that have left, and those that have
 * joined since the event began. A viewer that is replaced meanwhile counts as it was when the event began.
 *
 * Sound for resolvers that depend on nothing but event, arguments, viewer and back ends: for a viewer that agrees with an
 * execution on all that it read, the execution would have taken the same course.
 */
export class SharedExecution {
  readonly #parts: GroupParts;
  readonly #message: Message;
  readonly #scope: EventScope;
  readonly #event: PendingEvent;
  readonly #isRecorded: boolean;
  readonly #trace: GroupTrace | undefined;
  /** Executions that have not settled their candidates, begun or not; plus one for `start` itself. */
  #open = 1;

  /**
   * @param isRecorded whether results are kept for subscribers that resume, and kept results are used
   * @param trace undefined: its steps are not asked for
   */
  constructor(
    parts: GroupParts,
    message: Message,
    scope: EventScope,
    event: PendingEvent,
    isRecorded: boolean,
    trace: GroupTrace | undefined,
  ) {
    this.#parts = parts;
    this.#isRecorded = isRecorded;
    this.#trace = trace;
    this.#message = message;
    this.#scope = scope;
    this.#event = event;
  }

  /** Ends the event when all candidates are settled, within this call if all executions are synchronous. */
  start(candidates: Candidates): void {
    if (candidates.subscribers.size > 0) this.#share(candidates);
    this.#close();
  }

  /** Executes for each subscriber alone. */
  startUnshared(subscribers: ReadonlySet<Subscriber>): void {
    const { costs } = this.#parts.runner;
    if (subscribers.size > 1) costs.split(UNSHARED_FIELD, subscribers.size - 1);
    costs.buckets = Math.max(1, subscribers.size);
    for (const subscriber of subscribers) {
      this.#share({ subscribers: new Set([subscriber]), isWholeGroup: false, agreedReads: undefined });
    }
    this.#close();
  }

  #share(candidates: Candidates): void {
    const { runner, limiter, late, open, isAtOnce } = this.#parts;
    const first = this.#firstPending(candidates.subscribers);
    if (first === undefined) return;
    this.#open += 1;
    if (isAtOnce) {
      this.#execute(first, candidates, workOwnerOf(first));
      return;
    }
    const queue = runner.needsNoPlace ? late : limiter;
    const owner =
      queue === late && late.waiting === 0
        ? workOwnerOf(first)
        : this.#ownerOf(candidates.subscribers, first, queue);
    const isLate = runner.isTurnOver;
    if (queue === late && !isLate && !late.holds(owner)) {
      this.#execute(first, candidates, owner);
      return;
    }
    const turn: { execution?: OpenExecution } = {};
    const start = (): void => {
      const { execution } = turn;
      if (execution !== undefined) open.remove(execution);
      this.#execute(execution?.witness ?? first, candidates, owner);
    };
    const leave = queue === late || isLate ? queue.later(owner, start) : limiter.whenFree(owner, start);
    if (leave === undefined) return;
    turn.execution = open.add(this.#event, first, candidates.subscribers, () => {
      leave();
      this.#close();
    });
  }

  /** @param subscriber one of the candidates that waits for this event */
  #execute(subscriber: Subscriber, candidates: Candidates, owner: WorkOwner): void {
    const first = { subscriber, viewer: this.#viewerOf(subscriber) };
    const { runner, plan, replayed, metrics } = this.#parts;
    const known = this.#isRecorded ? replayed.find(plan, this.#message, first.viewer) : undefined;
    if (known !== undefined) {
      this.#settle(first, candidates, known.reads, known.result);
      return;
    }
    if (this.#parts.isReplay) metrics.replayExecutions.inc();
    const reads = new ReadSet();
    const outcome = runner.run(this.#message.event, this.#scope, first.viewer, reads, owner, this.#trace);
    if (!(outcome instanceof RunningExecution)) {
      this.#finish(first, candidates, reads, outcome);
      return;
    }
    const soFar = reads.snapshot();
    const subscribers = this.#split(first, candidates, soFar);
    const isWholeGroup = candidates.isWholeGroup && subscribers === candidates.subscribers;
    void this.#finishLater(first, { subscribers, isWholeGroup, agreedReads: soFar }, reads, outcome);
  }

  async #finishLater(
    first: First,
    candidates: Candidates,
    reads: ReadSet,
    running: RunningExecution,
  ): Promise<void> {
    const { open, runner } = this.#parts;
    const entry = open.add(this.#event, first.subscriber, candidates.subscribers, () => running.abort());
    const result = await running.result;
    open.remove(entry);
    runner.ended(running);
    this.#finish(first, candidates, reads, result);
  }

  #finish(first: First, candidates: Candidates, reads: ReadSet, result: ExecutionResult): void {
    // A result may hold lazy values, or the viewer itself: serialising it reads too, so it comes before the split.
    const { runner, keyOf, plan } = this.#parts;
    const position = plan.hasHistory ? this.#message.h : undefined;
    const serialized = new SerializedResult(result, position, keyOf?.(this.#message.event), runner);
    if (!plan.compresses) serialized.neverCompress();
    // An execution that failed, or was aborted because its subscribers left, may succeed for the next.
    if (this.#isRecorded && result.errors === undefined) {
      const { replayed } = this.#parts;
      replayed.add(plan, this.#message, first.viewer, reads, serialized);
    }
    if (this.#trace !== undefined) this.#trace.executed(result.errors, this.#scope.fetches);
    this.#settle(first, candidates, reads, serialized);
  }

  #settle(first: First, candidates: Candidates, reads: ReadSet, result: SerializedResult): void {
    const { order, isReplay } = this.#parts;
    const sharing = this.#split(first, candidates, reads);
    if (this.#trace !== undefined) this.#trace.settled(sharing, reads);
    // The age of an event that is replayed, or that a throttle has held, does not show how fast this pod is.
    const isTimed = !isReplay && this.#event.leftOut === undefined;
    order.settle(this.#event, sharing, result, isTimed ? this.#message : undefined);
    this.#close();
  }

  /**
   * Executes the event again for all candidates that differ from the first in what was read.
   *
   * @returns the candidates that agree with the first
   */
  #split(first: First, candidates: Candidates, reads: ReadSet): ReadonlySet<Subscriber> {
    const { subscribers, isWholeGroup, agreedReads } = candidates;
    if (reads.size === 0 || agreedReads?.covers(reads) === true) return subscribers;
    // The first may have left meanwhile: a subscriber that remains alone need not agree with it.
    if (subscribers.size === 1 && subscribers.has(first.subscriber)) return subscribers;
    const { partitions, pastViewers } = this.#parts;
    const partition =
      isWholeGroup && pastViewers.areNowAsAt(this.#event)
        ? partitions.of(reads)
        : new ViewerPartition(reads.snapshot(), subscribers, (subscriber) => this.#viewerOf(subscriber));
    const sharing = partition.matching(first.viewer);
    if (agreedReads === undefined) this.#parts.runner.costs.buckets = partition.size;
    for (const bucket of partition.buckets) {
      if (bucket === sharing) continue;
      const other = this.#firstPending(bucket);
      if (other === undefined) continue;
      this.#countUnshared(first.viewer, this.#viewerOf(other), reads);
      this.#share({ subscribers: bucket, isWholeGroup: false, agreedReads: partition.reads });
    }
    return sharing;
  }

  #viewerOf(subscriber: Subscriber): Json {
    return this.#parts.pastViewers.at(this.#event, subscriber);
  }

  /** @param first one of them that waits for this event */
  #ownerOf(subscribers: ReadonlySet<Subscriber>, first: Subscriber, queue: FairLimiter): WorkOwner {
    const { order } = this.#parts;
    let owner = workOwnerOf(first);
    let load = queue.loadOf(owner);
    let looked = 0;
    for (const subscriber of subscribers) {
      if (load === 0 || looked === MAX_OWNERS) break;
      looked += 1;
      const another = workOwnerOf(subscriber);
      const other = queue.loadOf(another);
      if (other >= load || !order.isPending(this.#event, subscriber)) continue;
      owner = another;
      load = other;
    }
    return owner;
  }

  #firstPending(subscribers: ReadonlySet<Subscriber>): Subscriber | undefined {
    const { order } = this.#parts;
    for (const subscriber of subscribers) if (order.isPending(this.#event, subscriber)) return subscriber;
    return undefined;
  }

  /** An execution is needed only because these two viewers differ in something that was read. */
  #countUnshared(one: Json, other: Json, reads: ReadSet): void {
    const { metrics, paths, plan, runner } = this.#parts;
    const path = paths.of(reads.difference(one, other) ?? '*');
    if (this.#trace !== undefined) this.#trace.split(path);
    runner.costs.split(path);
    metrics.unsharedExecutions.inc({ field: plan.field, path });
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#parts.order.end(this.#event);
    if (this.#parts.order.size === 0) this.#parts.pastViewers.clear();
    if (this.#trace !== undefined) this.#trace.ended();
  }
}
