import { GraphQLError, type ExecutionResult } from 'graphql';
import type { EventScope } from '../context/event-scope.ts';
import type { Execution } from '../context/execution.ts';
import { messageOf } from '../errors.ts';
import type { Executor } from '../executor/executor.ts';
import type { Event } from '../events/event.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';
import type { Metrics } from '../metrics.ts';
import type { Limiter } from '../support/limiter.ts';
import { withTimeout } from '../support/with-timeout.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import { UNITS, type WorkBudget } from './work-budget.ts';

export interface ExecutionServices {
  readonly executor: Pick<Executor, 'execute'>;
  readonly budget: WorkBudget;
  /** Of asynchronous executions, shared by all groups of a pod. */
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  /** How long an asynchronous execution may take. */
  readonly timeoutMs: number;
}

interface Failure {
  readonly errors: readonly GraphQLError[];
  readonly data: null;
}

/** Executes the operation of one group, for one event and one viewer at a time. */
export class ExecutionRunner {
  readonly #plan: SubscriptionPlan;
  readonly #services: ExecutionServices;
  #count = 0;
  /** Whether an execution has ever been asynchronous: then those to come wait for a place. */
  #asynchronous = false;

  constructor(plan: SubscriptionPlan, services: ExecutionServices) {
    this.#plan = plan;
    this.#services = services;
  }

  /** Executions begun. */
  get count(): number {
    return this.#count;
  }

  /** Calls `start` when an execution may begin: at once, as long as executions have been synchronous. */
  whenFree(start: () => void): void {
    if (this.#asynchronous) this.#services.limiter.whenFree(start);
    else start();
  }

  /**
   * Never throws, never rejects.
   *
   * @param reads gets all that is read of the viewer, until the result is there
   */
  run(
    event: Event,
    scope: EventScope,
    viewer: Json,
    reads: ReadSet,
  ): ExecutionResult | Promise<ExecutionResult> {
    const { executor, budget, metrics, limiter } = this.#services;
    const { operation, variables } = this.#plan;
    metrics.executions.inc();
    budget.spend(UNITS.execution);
    this.#count += 1;
    const execution = executionIn(scope, viewer, reads);
    if ('errors' in execution) return execution;
    const result = executor.execute(operation, event, execution.context, variables);
    if (!(result instanceof Promise)) return result;
    this.#asynchronous = true;
    limiter.take();
    return this.#inTime(result.catch(failed), execution).finally(() => limiter.release());
  }

  /** Resolves with an error after the time that an execution has, and aborts it; a later result is discarded. */
  #inTime(result: Promise<ExecutionResult>, execution: Execution): Promise<ExecutionResult> {
    const { timeoutMs, metrics } = this.#services;
    return withTimeout(result, timeoutMs, () => {
      metrics.executionTimeouts.inc();
      const error = new GraphQLError(`The event took longer than ${timeoutMs} ms to resolve.`, {
        extensions: { code: 'EXECUTE_TIMEOUT' },
      });
      execution.abort(error);
      return { errors: [error], data: null };
    });
  }
}

/** An executor never rejects; if it did, the group's later events would wait for this one for ever. */
function failed(thrown: unknown): Failure {
  return { errors: [new GraphQLError(`The event could not be executed: ${messageOf(thrown)}`)], data: null };
}

/** A graph's own `context` may throw: that is an error for the subscribers that the event is executed for. */
function executionIn(scope: EventScope, viewer: Json, reads: ReadSet): Execution | Failure {
  try {
    return scope.execution(viewer, reads);
  } catch (error) {
    return { errors: [new GraphQLError(`The context can't be made: ${messageOf(error)}`)], data: null };
  }
}
