import { GraphQLError } from 'graphql';
import type { Metrics } from '../metrics.ts';
import type { DeliveryOrder, PendingEvent } from './delivery-order.ts';
import { SerializedResult } from './result.ts';
import type { Subscriber } from './subscriber.ts';

interface Gap {
  /** Holds the place of the events that are missing. */
  readonly event: PendingEvent;
  count: number;
}

/**
 * Events that a group could not take, since too many were pending: counted, and told to its subscribers at the place
 * where they are missing.
 */
export class SkippedEvents {
  readonly #subscribers: ReadonlySet<Subscriber>;
  readonly #order: DeliveryOrder;
  readonly #metrics: Metrics;
  /** At the end of the pending events. */
  #gap: Gap | undefined;

  constructor(subscribers: ReadonlySet<Subscriber>, order: DeliveryOrder, metrics: Metrics) {
    this.#subscribers = subscribers;
    this.#order = order;
    this.#metrics = metrics;
  }

  add(): void {
    this.#metrics.groupOverflows.inc();
    this.#gap ??= { event: this.#order.begin(), count: 0 };
    this.#gap.count += 1;
  }

  /** Closes the gap, if there is one: the subscribers of now are told how many events they miss. */
  tell(): void {
    if (this.#gap === undefined) return;
    const { event, count } = this.#gap;
    this.#gap = undefined;
    const message = `${count} events were skipped here: they came faster than they could be executed.`;
    const errors = [new GraphQLError(message, { extensions: { code: 'EVENTS_SKIPPED', skipped: count } })];
    this.#order.settle(event, this.#subscribers, new SerializedResult({ errors }), undefined);
    this.#order.end(event);
  }

  /** Likewise, if nothing else is pending: subscribers need not wait for the next event to hear of it. */
  tellIfLast(): void {
    if (this.#order.size === 1) this.tell();
  }
}
