import type { GraphQLError } from 'graphql';
import type { EventScope } from '../context/event-scope.ts';
import type { Message } from '../events/message.ts';
import type { EventFilter } from '../graph/graph.ts';
import type { Json } from '../lazy/reads.ts';
import { RecentPositions } from './dedupe.ts';
import { DeliveryOrder, type PendingEvent } from './delivery-order.ts';
import { ExecutionRunner } from './execution-runner.ts';
import type { GroupServices } from './group-services.ts';
import type { GroupCounts } from './inspection.ts';
import { PastViewers } from './past-viewers.ts';
import { OpenExecutions } from './open-executions.ts';
import { SharedExecution, type GroupParts } from './shared-execution.ts';
import { SkippedEvents } from './skipped-events.ts';
import type { SerializedResult } from './result.ts';
import { ReplayedResults } from './resume/replayed-results.ts';
import type { Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import { ViewerPartitions } from './viewer-partition.ts';

/**
 * The subscribers of one operation with the same variables. An event is executed as few times as their viewers allow,
 * and each subscriber gets its results in the order of the events.
 *
 *     dispatch ──► filter, by viewer ──► SharedExecution, by what is read ──► DeliveryOrder ──► Subscriber.deliver
 */
export class Group {
  #plan: SubscriptionPlan;
  #services: GroupServices;
  readonly #subscribers = new Set<Subscriber>();
  #parts: GroupParts;
  readonly #recent: RecentPositions | undefined;
  /** Not among the subscribers yet. Made when it is needed. */
  #resuming: Set<Subscriber> | undefined;
  /** Groups that have results under way for subscribers that resume, or have resumed. */
  #replays: Set<Group> | undefined;
  /** Results of recorded messages. */
  #replayed: ReplayedResults | undefined;
  /** Every channel has been joined. */
  #subscribed = false;
  #events = 0;

  /** @param replayed results of former replays, if the group is one */
  constructor(plan: SubscriptionPlan, services: GroupServices, replayed?: ReplayedResults) {
    this.#plan = plan;
    this.#services = services;
    const { metrics, paths, limiter, late, maxWaiting, delivery } = services;
    // A replay waits itself: what a subscriber has missed must not be skipped.
    const most = replayed === undefined ? maxWaiting : Infinity;
    const skipped = new SkippedEvents(this.#subscribers, most, metrics);
    const order = new DeliveryOrder(this.#subscribers, skipped, delivery);
    this.#parts = {
      field: plan.field,
      runner: new ExecutionRunner(plan, services),
      partitions: new ViewerPartitions(this.#subscribers),
      pastViewers: new PastViewers(),
      order,
      open: new OpenExecutions(order),
      limiter,
      late,
      skipped,
      isReplay: replayed !== undefined,
      metrics,
      paths,
    };
    this.#replayed = replayed;
    this.#recent = plan.channels.length > 1 ? new RecentPositions() : undefined;
  }

  get plan(): SubscriptionPlan {
    return this.#plan;
  }

  /** Of its subscribers, those that are being resumed included. */
  get size(): number {
    return this.#subscribers.size + (this.#resuming?.size ?? 0);
  }

  get isSubscribed(): boolean {
    return this.#subscribed;
  }

  get counts(): GroupCounts {
    const { order, runner } = this.#parts;
    return {
      live: this.#subscribed,
      events: this.#events,
      executions: runner.count,
      waiting: order.size,
    };
  }

  add(subscriber: Subscriber): void {
    const { partitions, order } = this.#parts;
    this.#subscribers.add(subscriber);
    partitions.add(subscriber);
    order.joined(subscriber);
    if (this.#subscribed) this.#services.metrics.subscribers.inc();
  }

  /** @returns false if it was not in the group */
  remove(subscriber: Subscriber): boolean {
    if (this.#replays !== undefined) for (const replay of this.#replays) replay.remove(subscriber);
    if (this.#resuming?.delete(subscriber) === true) return true;
    if (!this.#subscribers.delete(subscriber)) return false;
    this.#parts.partitions.remove(subscriber);
    this.#parts.order.left(subscriber);
    this.#parts.open.left(subscriber);
    if (this.#subscribed) this.#services.metrics.subscribers.dec();
    return true;
  }

  /**
   * A subscriber's viewer has been replaced, in this turn. Events under way are finished with the previous one.
   *
   * @param previous its viewer until now
   */
  viewerChanged(subscriber: Subscriber, previous: Json): void {
    if (this.#replays !== undefined) {
      for (const replay of this.#replays) replay.viewerChanged(subscriber, previous);
    }
    if (!this.#subscribers.has(subscriber)) return;
    const { order, partitions, pastViewers } = this.#parts;
    if (order.size > 0) pastViewers.replaced(subscriber, previous, order.pendingSequences);
    partitions.move(subscriber, previous);
  }

  /**
   * Goes on with another graph: events that begin from now on are executed by it, those under way by the one before. All
   * keep their order.
   *
   * @param replayed results of replays, if the group is one
   * @returns whether all that had begun by now is done
   */
  renew(
    plan: SubscriptionPlan,
    services: GroupServices,
    replayed = this.#replayed && new ReplayedResults(),
  ): () => boolean {
    const { order, runner } = this.#parts;
    const { last } = order.pendingSequences;
    this.#plan = plan;
    this.#services = services;
    this.#parts = { ...this.#parts, runner: new ExecutionRunner(plan, services, runner.count) };
    this.#replayed = replayed;
    const replays = [...(this.#replays ?? [])].map((replay) => replay.renew(plan, services, replayed));
    return () => order.pendingSequences.first > last && replays.every((isDone) => isDone());
  }

  /** Every channel has been joined: from now on the metric `sluice_subscribers` counts the group's. */
  markSubscribed(): void {
    this.#subscribed = true;
    this.#services.metrics.subscribers.inc(this.#subscribers.size);
  }

  /** A subscriber is about to be resumed: it gets nothing before `takeOver`. */
  beginResuming(subscriber: Subscriber): void {
    this.#resuming ??= new Set();
    this.#resuming.add(subscriber);
  }

  isResuming(subscriber: Subscriber): boolean {
    return this.#resuming?.has(subscriber) ?? false;
  }

  /** @returns a group for the events that subscribers have missed which resume in this one */
  beginReplay(): Group {
    this.#replayed ??= new ReplayedResults();
    const replay = new Group(this.plan, this.#services, this.#replayed);
    this.#replays ??= new Set();
    this.#replays.add(replay);
    return replay;
  }

  /** Whether the subscriber has got all that has been dispatched. */
  isUpToDate(subscriber: Subscriber): boolean {
    return this.#parts.order.waitingOf(subscriber, 1) === 0;
  }

  /** To be called when the replay has delivered all, or its subscribers have been removed from it. */
  endReplay(replay: Group): void {
    this.#replays?.delete(replay);
  }

  /**
   * Subscribers that are being resumed get the events that begin from now on.
   *
   * @param replay that may have results under way for them, which come first
   * @returns to be called once it has none
   */
  takeOver(subscribers: Iterable<Subscriber>, replay?: Group): () => void {
    const { order } = this.#parts;
    const isPending = replay !== undefined && replay.counts.waiting > 0;
    const others = isPending ? [...this.#subscribers] : [];
    const taken = [...subscribers].filter((subscriber) => this.#resuming?.delete(subscriber));
    for (const subscriber of taken) this.add(subscriber);
    if (!isPending) return () => replay && this.endReplay(replay);
    const place = order.begin();
    order.exclude(place, others);
    order.track(place);
    return () => {
      this.endReplay(replay);
      order.exclude(place, taken);
      order.end(place);
    };
  }

  /** Removes and ends all subscribers. */
  end(errors: readonly GraphQLError[]): void {
    for (const subscriber of [...this.#subscribers, ...(this.#resuming ?? [])]) {
      this.remove(subscriber);
      subscriber.end(errors);
    }
  }

  /**
   * Delivers a result behind those of all events so far, though it is of none.
   *
   * @param isTold which subscribers get it
   * @returns the others
   */
  tell(result: SerializedResult, isTold: (subscriber: Subscriber) => boolean): readonly Subscriber[] {
    const told: Subscriber[] = [];
    const others: Subscriber[] = [];
    for (const subscriber of this.#subscribers) (isTold(subscriber) ? told : others).push(subscriber);
    if (told.length === 0) return others;
    const { order, skipped } = this.#parts;
    const place = order.begin();
    const tellable = told.filter((subscriber) => !skipped.keep(subscriber, result));
    order.settle(place, tellable, result, undefined);
    order.exclude(place, others);
    order.end(place);
    return others;
  }

  /**
   * Takes one event, in the order in which the channels carry them.
   *
   * @param isRecorded whether subscribers that resume later may need its results
   */
  dispatch(message: Message, scope: EventScope, isRecorded = false): void {
    const { metrics } = this.#services;
    const { order, skipped } = this.#parts;
    if (this.#recent?.add(message) === false) {
      metrics.duplicates.inc();
      return;
    }
    this.#events += 1;
    const pending = order.begin();
    const subscribers = this.#filter(message.event, pending);
    skipped.count(subscribers);
    const { shares } = this.plan;
    if (isRecorded && shares) this.#replayed ??= new ReplayedResults();
    const replayed = isRecorded && shares ? this.#replayed : undefined;
    const execution = new SharedExecution(this.#parts, message, scope, pending, replayed);
    if (shares) {
      execution.start({
        subscribers,
        isWholeGroup: subscribers === this.#subscribers,
        agreedReads: undefined,
      });
    } else {
      execution.startUnshared(subscribers);
    }
    if (!pending.done) order.track(pending);
  }

  /** @returns the subscribers that the event is for; the others are excluded */
  #filter(event: Message['event'], pending: PendingEvent): ReadonlySet<Subscriber> {
    const { filter } = this.plan;
    if (filter === undefined) return this.#subscribers;
    const { partitions, order } = this.#parts;
    const passing: ReadonlySet<Subscriber>[] = [];
    let rejected = false;
    for (const bucket of partitions.of(filter.reads).buckets) {
      const [first] = bucket;
      if (first !== undefined && this.#passes(filter, event, first)) {
        passing.push(bucket);
      } else {
        rejected = true;
        order.exclude(pending, bucket);
      }
    }
    if (passing.length === 0) this.#services.metrics.filtered.inc();
    return rejected ? new Set(passing.flatMap((bucket) => [...bucket])) : this.#subscribers;
  }

  /** A filter that fails lets no event through: code of the graph's own scalars may run in it. */
  #passes(filter: EventFilter, event: Message['event'], { viewer }: Subscriber): boolean {
    try {
      return filter.passes(event, viewer);
    } catch (error) {
      this.#services.log.error({ err: error, field: this.plan.field }, 'a filter failed');
      return false;
    }
  }
}
