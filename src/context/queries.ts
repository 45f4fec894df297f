import type { ExecutionResult } from 'graphql';
import type { Executor } from '../executor/executor.ts';
import type { Operation } from '../executor/operation.ts';
import type { Json } from '../lazy/reads.ts';
import { boundedExecution, type ExecutionBounds } from './bounded-execution.ts';
import type { Contexts } from './event-scope.ts';
import type { WorkOwner } from '../support/fair-limiter.ts';
import { Resumption } from '../support/resumption.ts';
import type { OwnTurns } from '../support/turns.ts';
import type { SpanPlace } from '../tracing/span.ts';
import type { Execution } from './execution.ts';
import { beginExecution, endExecution } from './execution-span.ts';
import { PendingQuery } from './pending-query.ts';

export interface QueryServices extends ExecutionBounds {
  readonly executor: Pick<Executor, 'execute' | 'failure' | 'writable'>;
  readonly contexts: Pick<Contexts, 'queryExecution'>;
}

/** A query or mutation, as a client asks for it. */
export interface Query {
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Deep-frozen. */
  readonly viewer: Json;
  /** The owner whose share of the places the query takes. */
  readonly owner: WorkOwner;
  /** The span of the request; undefined: the request is not sampled. */
  readonly span?: SpanPlace | undefined;
  /** Called before a query that had to wait begins, as its viewer may have been revoked. Default: it may begin. */
  readonly mayBegin?: () => boolean;
  /** The client's turns, which count the time that the query takes of the event loop after `execute` has returned. */
  readonly turns?: OwnTurns;
}

/** Executes queries and mutations of all transports, within the same bounds as events. */
export class Queries {
  readonly #services: QueryServices;
  #pending = 0;
  readonly #onSettled = (): void => {
    this.#pending -= 1;
  };

  constructor(services: QueryServices) {
    this.#services = services;
  }

  /**
   * Never throws. A synchronous query also waits until a place is free, since it is not known to be synchronous, but it
   * takes no place.
   *
   * @returns the result, if there is one at once
   */
  execute(query: Query): ExecutionResult | PendingQuery {
    const pending = new PendingQuery(this.#onSettled);
    this.#pending += 1;
    let begin = (): void => this.#begin(query, pending);
    const leave = this.#services.limiter.whenFree(query.owner, () => begin());
    if (leave === undefined) return pending.settled ?? pending;
    begin = () => this.#beginLater(query, pending);
    pending.untilThen(leave);
    return pending.settled ?? pending;
  }

  /** Whether no query is being executed or waits. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }

  #beginLater(query: Query, pending: PendingQuery): void {
    if (query.mayBegin?.() === false) {
      pending.settle(undefined);
      return;
    }
    const began = performance.now();
    this.#begin(query, pending);
    query.turns?.charge(performance.now() - began);
  }

  #begin(query: Query, pending: PendingQuery): void {
    const { operation, variables, viewer, owner, span: parent, turns } = query;
    const { executor, contexts } = this.#services;
    const span = beginExecution(parent, operation.kind, operation);
    const settle = (executed: ExecutionResult): void => {
      const result = executor.writable(operation, executed);
      endExecution(span, result);
      pending.settle(result);
    };
    let execution: Execution;
    try {
      execution = contexts.queryExecution(viewer, span ?? parent);
    } catch (error) {
      settle(executor.failure(operation, error));
      return;
    }
    const resumption = new Resumption((job) => (turns === undefined ? job() : turns.run(job)));
    resumption.setOf(execution.context);
    const result = executor.execute(operation, undefined, execution.context, variables);
    if (!(result instanceof Promise)) {
      settle(result);
      return;
    }
    const abort = (reason: Error): void => {
      execution.abort(reason);
      resumption.abort(reason);
    };
    pending.untilThen(() => abort(new Error('the client has left')));
    const safe = result.catch((thrown: unknown) => executor.failure(operation, thrown));
    // The result is serialised and sent in microtasks behind the turn.
    const end = (executed: ExecutionResult): void => {
      settle(executed);
      turns?.countUnmeasured();
    };
    void boundedExecution(safe, { abort }, owner, 'operation', this.#services).then((executed) =>
      resumption.resume(() => end(executed)),
    );
  }
}
