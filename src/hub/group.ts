import type { GraphQLError } from 'graphql';
import type { EventScope } from '../context/event-scope.ts';
import type { Message } from '../events/message.ts';
import type { Json } from '../lazy/reads.ts';
import { Audience } from './audience.ts';
import { RecentPositions } from './dedupe.ts';
import { ExecutionRunner } from './execution-runner.ts';
import { groupParts, throttleOf } from './group-parts.ts';
import type { GroupServices } from './group-services.ts';
import { traceOf } from './group-trace.ts';
import type { GroupCounts } from './group-table.ts';
import { SharedExecution, type GroupParts } from './shared-execution.ts';
import type { SerializedResult } from './result.ts';
import { Resuming } from './resume/resuming.ts';
import type { Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import type { Recipients, ThrottledEvent } from './throttle/held-events.ts';
import type { Throttle } from './throttle/throttle.ts';
import { UNITS } from './work-budget.ts';

/**
 * The subscribers of one operation with the same variables. An event is executed as few times as their viewers allow,
 * and each subscriber gets its results in the order of the events.
 *
 *     dispatch ──► filter, by viewer ──► SharedExecution, by what is read ──► DeliveryOrder ──► Subscriber.deliver
 *
 * A throttle, if there is one, stands before all this.
 */
export class Group {
  #plan: SubscriptionPlan;
  #services: GroupServices;
  readonly #subscribers = new Set<Subscriber>();
  #parts: GroupParts;
  readonly #audience: Audience;
  readonly #recent: RecentPositions | undefined;
  readonly #throttle: Throttle | undefined;
  /** Subscribers that resume, and are not in `#subscribers` yet. Made when needed. */
  #resuming: Resuming | undefined;
  /** Groups that have results under way for subscribers that resume, or have resumed. */
  #replays: Set<Group> | undefined;
  /** Every channel has been joined. */
  #subscribed = false;
  #events = 0;
  /** `MessageInHand` notes here which message the group was handed last. */
  reached = 0;
  client: string | undefined; // The client whose subscriber opened the group: see JoinOptions.

  /** @param isReplay see `beginReplay` */
  constructor(plan: SubscriptionPlan, services: GroupServices, isReplay = false) {
    this.#plan = plan;
    this.#services = services;
    this.#parts = groupParts(plan, services, this.#subscribers, isReplay);
    this.#audience = new Audience(plan, this.#subscribers, this.#parts.partitions, services);
    this.#recent = plan.channels.length > 1 ? new RecentPositions() : undefined;
    this.#throttle = throttleOf(
      this.#parts,
      services,
      this.#audience,
      (held, recipients) => this.#begin(held, recipients),
      (message) => traceOf(message, this.#plan, this.#services, undefined),
    );
  }

  get plan(): SubscriptionPlan {
    return this.#plan;
  }

  /** The number of its subscribers. It includes those that are being resumed. */
  get size(): number {
    return this.#subscribers.size + (this.#resuming?.size ?? 0);
  }

  /** Whether one of its subscribers belongs to this connection. */
  isOf(owner: object): boolean {
    return [...this.#subscribers].some((subscriber) => subscriber.owner === owner);
  }

  get isSubscribed(): boolean {
    return this.#subscribed;
  }

  get counts(): GroupCounts {
    const { order, runner } = this.#parts;
    return { live: this.#subscribed, events: this.#events, waiting: order.size, costs: runner.costs };
  }

  add(subscriber: Subscriber): void {
    const { partitions, order } = this.#parts;
    this.#subscribers.add(subscriber);
    partitions.add(subscriber);
    order.joined(subscriber);
    this.#throttle?.joined(subscriber);
    if (this.#subscribed) this.#services.metrics.subscribers.inc();
  }

  /** @returns false if it was not in the group */
  remove(subscriber: Subscriber): boolean {
    if (this.#replays !== undefined) for (const replay of this.#replays) replay.remove(subscriber);
    if (this.#resuming?.remove(subscriber) === true) return true;
    if (!this.#subscribers.delete(subscriber)) return false;
    this.#parts.partitions.remove(subscriber);
    this.#parts.order.left(subscriber);
    this.#parts.open.left(subscriber);
    this.#throttle?.left(subscriber);
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
    this.#throttle?.viewerChanged(previous, subscriber.viewer);
    if (order.size > 0) pastViewers.replaced(subscriber, previous, order.pendingSequences);
    partitions.move(subscriber, previous);
  }

  /**
   * Continues with another graph: it executes the events that begin from now on, the previous graph those under way. All
   * keep their order. Call `flushAll` before: the events that a throttle holds belong to the previous graph.
   *
   * @param plan its `delivery` must mean the same as before
   * @returns tells whether all events that had begun by now are done
   */
  renew(plan: SubscriptionPlan, services: GroupServices): () => boolean {
    const { order, runner } = this.#parts;
    const { last } = order.pendingSequences;
    this.#plan = plan;
    this.#services = services;
    this.#audience.renew(plan);
    this.#parts = { ...this.#parts, plan, runner: new ExecutionRunner(plan, services, runner.costs) };
    const replays = [...(this.#replays ?? [])].map((replay) => replay.renew(plan, services));
    return () => order.pendingSequences.first > last && replays.every((isDone) => isDone());
  }

  /** Every channel has been joined: from now on the metric `sluice_subscribers` counts its subscribers. */
  markSubscribed(): void {
    this.#subscribed = true;
    this.#services.metrics.subscribers.inc(this.#subscribers.size);
  }

  /** A subscriber gets nothing before `takeOver`. @returns aborts if it leaves before that */
  beginResuming(subscriber: Subscriber): AbortSignal {
    this.#resuming ??= new Resuming();
    return this.#resuming.add(subscriber);
  }

  isResuming(subscriber: Subscriber): boolean {
    return this.#resuming?.has(subscriber) ?? false;
  }

  /** @returns a group for the events that the subscribers resuming in this group have missed */
  beginReplay(): Group {
    const replay = new Group(this.plan, this.#services, true);
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
   * @param replay may have results under way for them, which come first
   * @returns to be called once the replay has none
   */
  takeOver(subscribers: Iterable<Subscriber>, replay?: Group): () => void {
    const { order } = this.#parts;
    // They must not get the message in hand: they got it with the missed events, or it came before their start.
    this.#services.inHand.catchUp(this);
    replay?.flush();
    const isPending = replay !== undefined && replay.counts.waiting > 0;
    const others = isPending ? [...this.#subscribers] : [];
    const taken = [...subscribers].filter((subscriber) => this.#resuming?.take(subscriber));
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

  /** Removes and ends all subscribers, once they have got what is under way and what a throttle holds. */
  end(errors: readonly GraphQLError[]): void {
    for (const subscriber of this.#resuming ?? []) this.#endOne(subscriber, errors);
    this.flush();
    this.#parts.order.whenBelow(1, () => {
      for (const subscriber of this.#subscribers) this.#endOne(subscriber, errors);
    });
  }

  #endOne(subscriber: Subscriber, errors: readonly GraphQLError[]): void {
    this.remove(subscriber);
    subscriber.end(errors);
  }

  /**
   * Delivers a result that belongs to no event, after the results of all events so far.
   *
   * @param isTold which subscribers get it
   * @returns the others
   */
  tell(result: SerializedResult, isTold: (subscriber: Subscriber) => boolean): readonly Subscriber[] {
    this.flush();
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
   * @param bytes of the message
   */
  dispatch(message: Message, scope: EventScope, isRecorded = false, bytes = 0): void {
    if (this.#recent?.add(message) === false) {
      this.#services.metrics.duplicates.inc();
      return;
    }
    this.#events += 1;
    if (this.#throttle?.take({ message, scope, isRecorded, bytes }) === false) return;
    const passing = this.#audience.of(message.event, bytes);
    const isLookedAt = this.#services.trace?.listener !== undefined || scope.span !== undefined;
    // Thousands of groups may listen to one channel, each with a filter of its own that lets few events through.
    if (passing === undefined && !isLookedAt) return;
    this.#begin({ message, scope, isRecorded, bytes }, passing ?? this.#audience.none);
  }

  /** Executes all events that a throttle holds. */
  flush(): void {
    this.#throttle?.flush();
  }

  /** Executes all events that throttles hold, including those of its replays. */
  flushAll(): void {
    this.flush();
    for (const replay of this.#replays ?? []) replay.flush();
  }

  /** The connection is about to be closed: the subscriber gets what a throttle holds, if that needs no waiting. */
  flushFor(subscriber: Subscriber): void {
    // Otherwise results that are under way for it would come after these.
    const isReady = this.#subscribers.has(subscriber) && this.isUpToDate(subscriber);
    if (this.#throttle === undefined || !isReady) return;
    const alone = this.beginReplay();
    alone.#parts = { ...alone.#parts, isAtOnce: true };
    alone.add(subscriber);
    this.#throttle.handOver(subscriber, (held, recipients) => alone.#begin(held, recipients));
    alone.remove(subscriber);
    this.endReplay(alone);
  }

  #begin(
    { message, scope, isRecorded }: ThrottledEvent,
    { subscribers, excluded, leftOut }: Recipients,
  ): void {
    const { order, skipped, plan } = this.#parts;
    this.#services.work.spend(UNITS.group);
    const pending = order.begin(leftOut);
    for (const some of excluded) order.exclude(pending, some);
    skipped.count(subscribers, leftOut);
    const trace = traceOf(message, plan, this.#services, scope.span);
    if (trace !== undefined) trace.dispatched(this.#subscribers, subscribers, this.#parts);
    pending.trace = trace;
    const isKept = isRecorded && plan.shares;
    const execution = new SharedExecution(this.#parts, message, scope, pending, isKept, trace);
    const isWholeGroup = subscribers === this.#subscribers;
    if (plan.shares) execution.start({ subscribers, isWholeGroup, agreedReads: undefined });
    else execution.startUnshared(subscribers);
    if (!pending.done) order.track(pending);
  }
}
