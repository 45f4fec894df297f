import type { ExecutionResult } from 'graphql';
import { boundedExecution, type ExecutionBounds } from '../context/bounded-execution.ts';
import type { EventScope } from '../context/event-scope.ts';
import type { Execution } from '../context/execution.ts';
import { endExecution } from '../context/execution-span.ts';
import type { Executor } from '../executor/executor.ts';
import type { Event } from '../events/event.ts';
import type { Json, ReadSet } from '../lazy/reads.ts';
import { ExecutionCosts } from './execution-costs.ts';
import type { WorkOwner } from '../support/fair-limiter.ts';
import type { GroupTrace } from './group-trace.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import { UNITS, type WorkBudget } from './work-budget.ts';

export interface ExecutionServices extends ExecutionBounds {
  readonly executor: Pick<Executor, 'execute' | 'failure' | 'unserialisable'>;
  readonly budget: WorkBudget;
  /** ms, of a monotonic clock. */
  readonly now?: () => number;
}

/** ms: a shorter execution counts as one execution, a longer one also by its time. */
const LONG_MS = 0.2;

/** One function for all groups. */
const monotonic = (): number => performance.now();

/** An execution that has turned out to be asynchronous. */
export class RunningExecution {
  /** Never rejects. */
  readonly result: Promise<ExecutionResult>;
  /** ms, of the runner's clock. */
  readonly began: number;
  readonly #execution: Execution;

  constructor(result: Promise<ExecutionResult>, execution: Execution, began: number) {
    this.result = result;
    this.began = began;
    this.#execution = execution;
  }

  /** No subscriber waits for its result any more. */
  abort(): void {
    this.#execution.abort(new Error('all subscribers have left'));
  }
}

/** Executes the operation of one group, for one event and one viewer at a time. */
export class ExecutionRunner {
  readonly #plan: SubscriptionPlan;
  readonly #services: ExecutionServices;
  readonly #now: () => number;
  readonly costs: ExecutionCosts;
  /** Whether all executions so far have been synchronous; undefined: there was none. */
  #synchronous: boolean | undefined;

  /** @param costs of the executions begun before, with another graph */
  constructor(plan: SubscriptionPlan, services: ExecutionServices, costs = new ExecutionCosts()) {
    this.#plan = plan;
    this.costs = costs;
    this.#services = services;
    this.#now = services.now ?? monotonic;
  }

  /** Whether this turn of the event loop has reached its limit: further executions have to wait for a later turn. */
  get isTurnOver(): boolean {
    return this.#services.budget.spent >= UNITS.longestTurn;
  }

  /**
   * Whether an execution may begin without a place: if all so far were synchronous. The first one may not: otherwise a
   * client could take any number of places by subscribing again for each.
   */
  get needsNoPlace(): boolean {
    return this.#synchronous === true;
  }

  /**
   * Never throws.
   *
   * @param owner gets the place that an asynchronous execution takes
   * @param reads gets all that is read of the viewer, until the result is there
   * @param trace of the event in this group, if it is traced
   */
  run(
    event: Event,
    scope: EventScope,
    viewer: Json,
    reads: ReadSet,
    owner: WorkOwner,
    trace?: GroupTrace,
  ): ExecutionResult | RunningExecution {
    const { executor, budget, metrics } = this.#services;
    const { operation, variables } = this.#plan;
    metrics.executions.inc();
    budget.spend(UNITS.execution);
    this.costs.executions += 1;
    const span = trace?.executing();
    let execution: Execution;
    try {
      execution = scope.execution(viewer, reads, span ?? scope.span);
    } catch (error) {
      // A graph's own `context` may throw: that is an error for the subscribers that the event is executed for.
      const failure = executor.failure(operation, error);
      endExecution(span, failure);
      return failure;
    }
    const began = this.#now();
    const { context } = execution;
    const result =
      span === undefined
        ? executor.execute(operation, event, context, variables)
        : span.within(() => executor.execute(operation, event, context, variables));
    const took = this.#now() - began;
    this.costs.ms += took;
    if (took > LONG_MS) budget.spend(took * UNITS.millisecond);
    if (!(result instanceof Promise)) {
      this.#synchronous ??= true;
      endExecution(span, result);
      return result;
    }
    this.#synchronous = false;
    const safe = result.catch((thrown: unknown) => executor.failure(operation, thrown));
    const bounded = boundedExecution(safe, execution, owner, 'event', this.#services);
    if (span !== undefined) void bounded.then((settled) => endExecution(span, settled));
    return new RunningExecution(bounded, execution, began);
  }

  /** It is over. */
  ended({ began }: RunningExecution): void {
    this.costs.awaitedMs += this.#now() - began;
  }

  /** A result can't be written. @param thrown by JSON.stringify */
  unserialisable(thrown: unknown): void {
    const { operation, field } = this.#plan;
    this.#services.executor.unserialisable(operation, field, thrown);
  }
}
