import type { DocumentNode, ExecutionResult } from 'graphql';
import { mapAsyncIterator } from 'graphql/execution/mapAsyncIterator.js';
import type { Delivery } from './deliveries.ts';
import type { Member } from './result-stream.ts';
import type { Subscriber } from './subscription.ts';

/** Starts subscriptions: gives graphql-ws what it iterates over, or says what is wrong. */
export type FanOut = (subscriber: Subscriber) => Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;

export type MakeFanOut = (delivery: Delivery<unknown>) => FanOut;

/** Every subscriber executes every event. graphql-ws takes the results one by one, so there is nothing to deliver. */
export const eachForItself: MakeFanOut = () => async (subscriber) => {
  const events = await subscriber.open();
  if (!isIterable(events)) return events;
  return mapAsyncIterator(events, (event) => subscriber.execute(event));
};

/** Those who ask the same are one group, in which an event is executed once. Documents have to be interned. */
export const groups: MakeFanOut = (delivery) => {
  const byDocument = new WeakMap<DocumentNode, Map<string, Group>>();
  return async (subscriber) => {
    const { document, question } = subscriber;
    const open = byDocument.get(document) ?? new Map<string, Group>();
    byDocument.set(document, open);
    const group = open.get(question) ?? new Group(delivery, subscriber, () => open.delete(question));
    open.set(question, group);
    return group.join(subscriber);
  };
};

class Group {
  readonly #delivery: Delivery<unknown>;
  /** Whose operation is executed for all. */
  readonly #first: Subscriber;
  readonly #events: Promise<AsyncIterable<unknown> | ExecutionResult>;
  readonly #members = new Set<Member<unknown>>();
  readonly #closed: () => void;

  constructor(delivery: Delivery<unknown>, first: Subscriber, closed: () => void) {
    this.#delivery = delivery;
    this.#first = first;
    this.#closed = closed;
    this.#events = first.open();
    void this.#run();
  }

  async join(subscriber: Subscriber): Promise<Member<unknown> | ExecutionResult> {
    const member = this.#delivery.member(subscriber, () => this.#leave(member));
    this.#members.add(member);
    const events = await this.#events;
    return isIterable(events) ? member : events;
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
      for (const member of this.#members) member.deliver(result);
    }
  }

  #leave(member: Member<unknown>): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
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
