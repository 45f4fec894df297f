import { setImmediate } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import type { Executor } from '../executor/executor.ts';
import type { Operation } from '../executor/operation.ts';
import { planSubscription, type PlanServices, type SubscriptionPlan } from './subscription-plan.ts';

/** The services of one graph by which subscriptions are planned. */
export interface RenewalServices extends PlanServices {
  readonly executor: Pick<Executor, 'prepare' | 'subscriptionField' | 'selectedTypes'>;
}

/** ms of a turn of the event loop that planning ahead takes: the rest is for events. */
const MS_PER_TURN = 5;

const AGAIN = 'Subscribe again.';

/**
 * Decides what happens to subscriptions when the graph is replaced. A subscription goes on, with a plan for the new graph,
 * if its document is valid there and its field means the same: types of all selected fields, topic, channels, filter,
 * access, which events may be left out, and whether clients can resume. Any other subscription ends with an error.
 */
export class Renewals {
  readonly #from: RenewalServices;
  readonly #to: RenewalServices;
  readonly #outcomes = new Map<SubscriptionPlan, SubscriptionPlan | GraphQLError>();
  /** The field whose type has changed, or undefined, of each operation that is subscribed to. */
  readonly #changedFields = new Map<Operation, string | undefined>();

  /**
   * @param from of the graph that is in force
   * @param to of the graph that replaces it
   */
  constructor(from: RenewalServices, to: RenewalServices) {
    this.#from = from;
    this.#to = to;
  }

  /** Plans for these subscriptions, over as many turns of the event loop as it takes. */
  async planAhead(plans: Iterable<SubscriptionPlan>): Promise<void> {
    let began = performance.now();
    for (const plan of plans) {
      this.of(plan);
      if (performance.now() - began < MS_PER_TURN) continue;
      await setImmediate();
      began = performance.now();
    }
  }

  /** @returns the plan by which a subscription goes on, or the error that it ends with */
  of(plan: SubscriptionPlan): SubscriptionPlan | GraphQLError {
    const known = this.#outcomes.get(plan);
    if (known !== undefined) return known;
    const next = this.#planAgain(plan);
    const outcome = typeof next === 'string' ? graphChanged(next) : next;
    this.#outcomes.set(plan, outcome);
    return outcome;
  }

  /** @returns the reason, if it can't go on */
  #planAgain(plan: SubscriptionPlan): SubscriptionPlan | string {
    const { key, variables } = plan;
    const operation = this.#to.executor.prepare(plan.operation.query, plan.operation.name, variables);
    if (!('document' in operation)) return messagesOf(operation);
    const changed = this.#changedField(plan.operation, operation);
    if (changed !== undefined) return `The type of ${changed} is another one.`;
    const next = planSubscription(operation, key, variables, this.#to);
    if (!('operation' in next)) return messagesOf(next);
    // The same object: connections hold it too.
    return this.#difference(plan, next) ?? { ...next, variables };
  }

  #changedField(operation: Operation, next: Operation): string | undefined {
    const known = this.#changedFields.get(operation);
    if (known !== undefined || this.#changedFields.has(operation)) return known;
    const types = this.#to.executor.selectedTypes(next);
    let changed: string | undefined;
    for (const [field, type] of this.#from.executor.selectedTypes(operation)) {
      if (types.get(field) === type) continue;
      changed = field.slice(field.indexOf('.') + 1);
      break;
    }
    this.#changedFields.set(operation, changed);
    return changed;
  }

  #difference(plan: SubscriptionPlan, next: SubscriptionPlan): string | undefined {
    const { field } = plan;
    const [terms, nextTerms] = [this.#from, this.#to].map(({ graph }) => graph.bindings.get(field)?.terms);
    if (plan.topic !== next.topic) return `The events of ${field} come from another topic.`;
    const channels = new Set(plan.channels);
    if (next.channels.length !== channels.size || !next.channels.every((name) => channels.has(name))) {
      return `The arguments of ${field} select other events.`;
    }
    if (terms?.defaults !== nextTerms?.defaults) return `An argument of ${field} has another default.`;
    if (terms?.filter !== nextTerms?.filter) return `The filter of ${field} is another one.`;
    if (terms?.access !== nextTerms?.access) return `Other viewers may subscribe to ${field}.`;
    if (plan.hasHistory && !next.hasHistory) return `The events of ${field} are not kept any more.`;
    if (terms?.delivery !== nextTerms?.delivery)
      return `The events of ${field} are delivered in another way.`;
    return undefined;
  }
}

function graphChanged(what: string): GraphQLError {
  return new GraphQLError(
    `The graph has changed, and this subscription does not hold any more. ${what} ${AGAIN}`,
    {
      extensions: { code: 'GRAPH_CHANGED' },
    },
  );
}

const messagesOf = (errors: readonly GraphQLError[]): string =>
  errors.map(({ message }) => message).join(' ');
