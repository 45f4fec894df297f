import type { DeliveryOrder, PendingEvent } from './delivery-order.ts';
import type { Subscriber } from './subscriber.ts';

/** An execution that waits for its turn, or for its result. */
export interface OpenExecution {
  readonly event: PendingEvent;
  /** One of its subscribers that waits for it. */
  witness: Subscriber;
  /** The others, some of which have left. */
  readonly others: Iterator<Subscriber>;
  readonly giveUp: () => void;
}

/** The asynchronous executions of a group that are not over. Those whose subscribers have all left are given up. */
export class OpenExecutions {
  readonly #order: Pick<DeliveryOrder, 'isPending'>;
  /** Made when it is needed. */
  #byWitness: Map<Subscriber, Set<OpenExecution>> | undefined;

  constructor(order: Pick<DeliveryOrder, 'isPending'>) {
    this.#order = order;
  }

  /**
   * @param witness one of the subscribers that wait for it
   * @param giveUp called once, unless the execution is removed before
   */
  add(
    event: PendingEvent,
    witness: Subscriber,
    subscribers: ReadonlySet<Subscriber>,
    giveUp: () => void,
  ): OpenExecution {
    const execution: OpenExecution = { event, witness, others: subscribers.values(), giveUp };
    this.#put(execution);
    return execution;
  }

  /** Does nothing for one that has been given up. */
  remove(execution: OpenExecution): void {
    const executions = this.#byWitness?.get(execution.witness);
    if (executions?.delete(execution) !== true || executions.size > 0) return;
    this.#byWitness?.delete(execution.witness);
    if (this.#byWitness?.size === 0) this.#byWitness = undefined;
  }

  /** The subscriber is no longer in the group. */
  left(subscriber: Subscriber): void {
    for (const execution of this.#byWitness?.get(subscriber) ?? []) {
      this.remove(execution);
      const witness = this.#nextWitness(execution);
      if (witness === undefined) {
        execution.giveUp();
      } else {
        execution.witness = witness;
        this.#put(execution);
      }
    }
  }

  #put(execution: OpenExecution): void {
    this.#byWitness ??= new Map();
    const executions = this.#byWitness.get(execution.witness);
    if (executions === undefined) this.#byWitness.set(execution.witness, new Set([execution]));
    else executions.add(execution);
  }

  /** Goes on where it has stopped the last time: a subscriber that does not wait for an event never will. */
  #nextWitness({ event, others }: OpenExecution): Subscriber | undefined {
    for (let next = others.next(); next.done !== true; next = others.next()) {
      if (this.#order.isPending(event, next.value)) return next.value;
    }
    return undefined;
  }
}
