import { GraphQLError, type ExecutionResult } from 'graphql';
import type { EventScope } from '../context/event-scope.ts';
import type { Execution } from '../context/execution.ts';
import { messageOf } from '../errors.ts';
import type { EventFilter } from '../graph/graph.ts';
import type { Message } from '../events/message.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Operation } from '../executor/operation.ts';
import type { BoundedLabels } from '../support/bounded-labels.ts';
import { Bucketings } from './viewer-partition.ts';
import type { GroupCounts } from './inspection.ts';
import type { Limiter } from './execution-limiter.ts';
import type { Member } from './subscriber.ts';
import { RecentPositions } from './dedupe.ts';
import { Payload } from './result.ts';
import { Sequencer, type Progress } from './delivery-order.ts';
import { Serving } from './shared-execution.ts';
import { UNITS, type WorkBudget } from './work-budget.ts';

/** What a group needs of the executor. */
export interface EventExecutor {
  execute(
    operation: Operation,
    event: unknown,
    context: unknown,
    variables: Readonly<Record<string, unknown>>,
  ): ExecutionResult | Promise<ExecutionResult>;
}

/** What all groups of a hub have in common. */
export interface GroupServices {
  readonly executor: EventExecutor;
  readonly flusher: WorkBudget;
  readonly limiter: Limiter;
  /** Paths of viewers, for a metric's label. */
  readonly paths: BoundedLabels;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Most events that are under way at once. */
  readonly maxWaiting: number;
  /** How long an asynchronous execution may take. */
  readonly timeoutMs: number;
}

/** What the members of a group have asked for. */
export interface Question {
  readonly operation: Operation;
  readonly key: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
  readonly field: string;
  readonly filter: EventFilter | undefined;
  /** Results may be shared by members whose viewers agree on all that was read; else each is executed for alone. */
  readonly shares: boolean;
}

interface Failure {
  readonly errors: readonly GraphQLError[];
  readonly data: null;
}

interface Skipping {
  readonly progress: Progress;
  count: number;
}

/**
 * Subscribers that ask the same thing. An event is executed as few times as their viewers allow, and every member gets
 * its results in the order of the events.
 *
 *     handOver ──► filter, by viewer ──► serve, by what is read ──► sequencer ──► deliver to each member
 */
export class Group {
  readonly question: Question;
  readonly #services: GroupServices;
  readonly #members = new Set<Member>();
  readonly #bucketings = new Bucketings<Member>(this.#members);
  readonly #sequencer = new Sequencer(this.#members, (member, payload) => this.#deliver(member, payload));
  readonly #recent: RecentPositions | undefined;
  #live = false;
  /** Whether an execution has ever been asynchronous: then those to come wait for a place. */
  #asynchronous = false;
  /** Events that could not be taken in, at the end of those under way. */
  #skipping: Skipping | undefined;
  #delivered = 0;
  #events = 0;
  #executions = 0;

  constructor(question: Question, services: GroupServices) {
    this.question = question;
    this.#services = services;
    this.#recent = question.channels.length > 1 ? new RecentPositions() : undefined;
  }

  get size(): number {
    return this.#members.size;
  }

  get counts(): GroupCounts {
    const { size: waiting } = this.#sequencer;
    return { live: this.#live, events: this.#events, executions: this.#executions, waiting };
  }

  add(member: Member): void {
    // What is skipped from here on this one misses too, so it is told apart from what it does not.
    this.#tellSkipped();
    this.#members.add(member);
    this.#bucketings.add(member);
    this.#sequencer.joined(member);
    if (this.#live) this.#services.metrics.subscribers.inc();
  }

  /** @returns false if it was not a member */
  remove(member: Member): boolean {
    if (!this.#members.delete(member)) return false;
    this.#bucketings.remove(member);
    this.#sequencer.left(member);
    if (this.#live) this.#services.metrics.subscribers.dec();
    return true;
  }

  /** Every channel has been joined: from now on the members count as subscribers. */
  goLive(): void {
    this.#live = true;
    this.#services.metrics.subscribers.inc(this.#members.size);
  }

  /** Lets all members go. */
  end(errors: readonly GraphQLError[]): void {
    for (const member of this.#members) {
      this.remove(member);
      member.end(errors);
    }
  }

  /** Takes one event, in the order in which the channels carry them. */
  handOver(message: Message, scope: EventScope): void {
    if (this.#recent?.add(message) === false) {
      this.#services.metrics.duplicates.inc();
      return;
    }
    this.#events += 1;
    if (this.#sequencer.size >= this.#services.maxWaiting) {
      this.#skip();
      return;
    }
    this.#tellSkipped();
    const progress = this.#sequencer.begin();
    const passing = this.#filter(message, progress);
    const serving = new Serving({
      bucketings: this.#bucketings,
      execute: (member, reads) => this.#execute(message, scope, member, reads),
      wants: (member) => this.#sequencer.wants(progress, member),
      whenFree: (start) => (this.#asynchronous ? this.#services.limiter.whenFree(start) : start()),
      settle: (members, payload) => this.#settle(progress, members, payload, message.in),
      unshared: (one, other, reads) => this.#countUnshared(one, other, reads),
      ended: () => this.#ended(progress),
    });
    if (this.question.shares) serving.start(passing, passing === this.#members);
    else serving.startUnshared(passing);
    if (!progress.done) this.#sequencer.detach(progress);
  }

  /** @returns who is to get the event; the others are settled */
  #filter({ event }: Message, progress: Progress): ReadonlySet<Member> {
    const { filter } = this.question;
    if (filter === undefined) return this.#members;
    const passing: ReadonlySet<Member>[] = [];
    let rejected = false;
    for (const bucket of this.#bucketings.of(filter.reads).buckets) {
      const [first] = bucket;
      if (first !== undefined && this.#passes(filter, event, first)) {
        passing.push(bucket);
      } else {
        rejected = true;
        this.#sequencer.settle(progress, bucket, undefined);
      }
    }
    if (passing.length === 0) this.#services.metrics.filtered.inc();
    return rejected ? new Set(passing.flatMap((bucket) => [...bucket])) : this.#members;
  }

  /** A filter that fails lets nothing through: code of the graph's own scalars may run in it. */
  #passes(filter: EventFilter, event: Message['event'], { viewer }: Member): boolean {
    try {
      return filter.passes(event, viewer);
    } catch (error) {
      this.#services.log.error({ err: error, field: this.question.field }, 'a filter failed');
      return false;
    }
  }

  #execute(
    message: Message,
    scope: EventScope,
    { viewer }: Member,
    reads: ReadSet,
  ): ExecutionResult | Promise<ExecutionResult> {
    const { executor, flusher, metrics, limiter } = this.#services;
    const { operation, variables } = this.question;
    metrics.executions.inc();
    flusher.spend(UNITS.execution);
    this.#executions += 1;
    const execution = executionIn(scope, viewer, reads);
    if ('errors' in execution) return execution;
    const result = executor.execute(operation, message.event, execution.context, variables);
    if (!(result instanceof Promise)) return result;
    this.#asynchronous = true;
    limiter.take();
    return this.#inTime(result, execution).finally(() => limiter.give());
  }

  /** Resolves with an error after the time that an execution has; what comes later is discarded. */
  #inTime(result: Promise<ExecutionResult>, execution: Execution): Promise<ExecutionResult> {
    const { timeoutMs, metrics } = this.#services;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        metrics.executionTimeouts.inc();
        const error = new GraphQLError(`The event took longer than ${timeoutMs} ms to resolve.`, {
          extensions: { code: 'EXECUTE_TIMEOUT' },
        });
        execution.abort(error);
        resolve({ errors: [error], data: null });
      }, timeoutMs);
      result.then(
        (settled) => {
          clearTimeout(timer);
          resolve(settled);
          return undefined;
        },
        () => undefined, // An executor never rejects.
      );
    });
  }

  #settle(progress: Progress, members: ReadonlySet<Member>, payload: Payload, consumedAt: number): void {
    const { metrics, flusher } = this.#services;
    this.#sequencer.settle(progress, members, payload);
    const delivered = this.#delivered;
    metrics.deliveries.inc(delivered);
    flusher.spend(delivered + payload.json.length * UNITS.byte);
    this.#delivered = 0;
    if (delivered > 0) flusher.timed(consumedAt);
  }

  #deliver(member: Member, payload: Payload): void {
    try {
      member.deliver(payload);
      this.#delivered += 1;
    } catch (error) {
      this.#services.log.error({ err: error }, 'a delivery failed');
    }
  }

  #ended(progress: Progress): void {
    this.#sequencer.end(progress);
    // Nothing but skipped events is left: those who missed them need not wait for the next one to hear of it.
    if (this.#sequencer.size === 1) this.#tellSkipped();
  }

  /** Too many events are under way: this one is skipped, and its place kept to say so. */
  #skip(): void {
    this.#services.metrics.groupOverflows.inc();
    this.#skipping ??= { progress: this.#sequencer.begin(), count: 0 };
    this.#skipping.count += 1;
  }

  /** At the place where events are missing, those who missed them are told how many. */
  #tellSkipped(): void {
    if (this.#skipping === undefined) return;
    const { progress, count } = this.#skipping;
    this.#skipping = undefined;
    const message = `${count} events were skipped here: they came faster than they could be executed.`;
    const errors = [new GraphQLError(message, { extensions: { code: 'EVENTS_SKIPPED', skipped: count } })];
    this.#settle(progress, this.#members, new Payload({ errors }), Date.now());
    this.#sequencer.end(progress);
  }

  #countUnshared(one: Member, other: Member, reads: ReadSet): void {
    const { metrics, paths } = this.#services;
    const path = paths.of(reads.difference(one.viewer, other.viewer) ?? '*');
    metrics.unsharedExecutions.inc({ field: this.question.field, path });
  }
}

/** A graph's own `context` may throw: that is an error for those whose event it is. */
function executionIn(scope: EventScope, viewer: Json, reads: ReadSet): Execution | Failure {
  try {
    return scope.execution(viewer, reads);
  } catch (error) {
    return { errors: [new GraphQLError(`The context can't be made: ${messageOf(error)}`)], data: null };
  }
}
