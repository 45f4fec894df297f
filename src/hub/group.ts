import { GraphQLError, type ExecutionResult } from 'graphql';
import type { EventPredicate } from '../graph/graph.ts';
import type { Message } from '../ingest/message.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Operation } from '../executor/operation.ts';
import type { Flusher } from './flush.ts';
import type { Member } from './member.ts';
import { RecentPositions } from './offsets.ts';
import { Payload } from './payload.ts';

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
  readonly flusher: Flusher;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Most events that wait behind an asynchronous execution. */
  readonly maxWaiting: number;
}

/** What the members of a group have asked for. */
export interface Question {
  readonly operation: Operation;
  readonly key: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly channels: readonly string[];
  readonly predicate: EventPredicate | undefined;
}

interface WaitingEvent {
  readonly message: Message;
  readonly sequence: number;
}

const CONTEXT = Object.freeze({});

/**
 * Subscribers that ask the same thing. An event is executed once for all of them, and events one after the other, so
 * that results come in the order of the events.
 *
 *     handOver ──► predicate ──► execute ──► deliver to each member
 *                                   ▲
 *                      waiting ─────┘   only behind an asynchronous execution; bounded
 */
export class Group {
  readonly question: Question;
  readonly #services: GroupServices;
  /** Each member with the number of the last event handed over before it joined. */
  readonly #members = new Map<Member, number>();
  readonly #recent: RecentPositions | undefined;
  #live = false;
  #sequence = 0;
  #executing = false;
  #waiting: WaitingEvent[] = [];
  #skipped = 0;

  constructor(question: Question, services: GroupServices) {
    this.question = question;
    this.#services = services;
    this.#recent = question.channels.length > 1 ? new RecentPositions() : undefined;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: Member): void {
    this.#members.set(member, this.#sequence);
    if (this.#live) this.#services.metrics.subscribers.inc();
  }

  /** @returns false if it was not a member */
  remove(member: Member): boolean {
    if (!this.#members.delete(member)) return false;
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
    for (const member of this.#members.keys()) {
      this.remove(member);
      member.end(errors);
    }
  }

  /** Takes one event, in the order in which the channels carry them. */
  handOver(message: Message): void {
    const { metrics, maxWaiting } = this.#services;
    if (this.#recent?.add(message) === false) {
      metrics.duplicates.inc();
      return;
    }
    if (this.question.predicate?.(message.event) === false) {
      metrics.filtered.inc();
      return;
    }
    const event = { message, sequence: ++this.#sequence };
    if (!this.#executing) {
      this.#execute(event);
      return;
    }
    if (this.#waiting.length === maxWaiting) {
      this.#waiting.shift();
      this.#skipped += 1;
      metrics.groupOverflows.inc();
    }
    this.#waiting.push(event);
  }

  #execute(event: WaitingEvent): void {
    const { executor, metrics } = this.#services;
    const { operation, variables } = this.question;
    metrics.executions.inc();
    const result = executor.execute(operation, event.message.event, CONTEXT, variables);
    if (!(result instanceof Promise)) {
      this.#deliver(result, event);
      return;
    }
    this.#executing = true;
    void this.#finish(result, event);
  }

  async #finish(result: Promise<ExecutionResult>, event: WaitingEvent): Promise<void> {
    const settled = await result;
    this.#executing = false;
    this.#deliver(settled, event);
    this.#resume();
  }

  /** Executes what has waited, until one is asynchronous again or none is left. */
  #resume(): void {
    let event: WaitingEvent | undefined;
    while (!this.#executing && (event = this.#waiting.shift()) !== undefined) {
      if (this.#skipped > 0) this.#tellSkipped(event);
      this.#execute(event);
    }
  }

  /** At the place where events are missing, those who missed them are told how many. */
  #tellSkipped(next: WaitingEvent): void {
    const skipped = this.#skipped;
    this.#skipped = 0;
    const message = `${skipped} events were skipped here: they came faster than they could be executed.`;
    const errors = [new GraphQLError(message, { extensions: { code: 'EVENTS_SKIPPED', skipped } })];
    this.#deliver({ errors }, { message: next.message, sequence: next.sequence - 1 });
  }

  #deliver(result: ExecutionResult, { message, sequence }: WaitingEvent): void {
    const { metrics, flusher, log } = this.#services;
    const payload = new Payload(result);
    let deliveries = 0;
    this.#members.forEach((joinedAfter, member) => {
      if (joinedAfter >= sequence) return;
      try {
        member.deliver(payload);
        deliveries += 1;
      } catch (error) {
        log.error({ err: error }, 'a delivery failed');
      }
    });
    metrics.deliveries.inc(deliveries);
    if (deliveries > 0) flusher.timed(message.in);
  }
}
