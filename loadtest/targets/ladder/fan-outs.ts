import type { DocumentNode, ExecutionResult } from 'graphql';
import { mapAsyncIterator } from 'graphql/execution/mapAsyncIterator.js';
import type { Delivery } from './deliveries.ts';
import type { ResultStream } from './result-stream.ts';
import type { Subscription } from './subscription.ts';

/** Starts a subscription: returns the results that graphql-ws iterates over, or errors. */
export type FanOut = (
  subscription: Subscription,
) => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;

export type MakeFanOut = (delivery: Delivery<unknown>) => FanOut;

/** Each event is executed for each subscription. graphql-ws iterates over the results, so no delivery is needed. */
export const eachForItself: MakeFanOut = () => async (subscription) => {
  const events = await subscription.subscribe();
  if (!isIterable(events)) return events;
  return mapAsyncIterator(events, (event) => subscription.execute(event));
};

/** Subscriptions with the same key form a group, in which an event is executed once. Needs interned documents. */
export const groups: MakeFanOut = (delivery) => {
  const byDocument = new WeakMap<DocumentNode, Map<string, Group>>();
  return async (subscription) => {
    const { document, groupKey } = subscription;
    const open = byDocument.get(document) ?? new Map<string, Group>();
    byDocument.set(document, open);
    const group = open.get(groupKey) ?? new Group(delivery, subscription, () => open.delete(groupKey));
    open.set(groupKey, group);
    return group.join(subscription);
  };
};

class Group {
  readonly #delivery: Delivery<unknown>;
  /** The subscription whose operation is executed for all. */
  readonly #first: Subscription;
  readonly #events: Promise<AsyncIterable<unknown> | ExecutionResult>;
  readonly #streams = new Set<ResultStream<unknown>>();
  readonly #closed: () => void;

  constructor(delivery: Delivery<unknown>, first: Subscription, closed: () => void) {
    this.#delivery = delivery;
    this.#first = first;
    this.#closed = closed;
    this.#events = first.subscribe();
    void this.#run();
  }

  async join(subscription: Subscription): Promise<ResultStream<unknown> | ExecutionResult> {
    const stream = this.#delivery.stream(subscription, () => this.#leave(stream));
    this.#streams.add(stream);
    const events = await this.#events;
    return isIterable(events) ? stream : events;
  }

  async #run(): Promise<void> {
    const events = await this.#events;
    if (!isIterable(events)) {
      this.#closed();
      return;
    }
    for await (const event of events) {
      const executed = this.#first.execute(event);
      const result = this.#delivery.share(executed instanceof Promise ? await executed : executed);
      for (const stream of this.#streams) stream.deliver(result);
    }
  }

  #leave(stream: ResultStream<unknown>): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return;
    this.#closed();
    void this.#close();
  }

  async #close(): Promise<void> {
    const events = await this.#events;
    if (isIterable(events)) await events[Symbol.asyncIterator]().return?.();
  }
}

function isIterable(events: AsyncIterable<unknown> | ExecutionResult): events is AsyncIterable<unknown> {
  return Symbol.asyncIterator in events;
}
