import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import type { Operation } from '../../executor/operation.ts';
import {
  ClientSubscription,
  type SubscribeExtensions,
  type SubscriptionOwner,
} from '../delivery/client-subscription.ts';
import { idText } from './frame.ts';

type Settle = (result: IteratorReturnResult<undefined> | Promise<never>) => void;

/** The part of a connection that a subscription uses. */
export interface WebSocketSubscriptionOwner extends SubscriptionOwner {
  readonly schema: GraphQLSchema;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * One subscription on one WebSocket: for the hub a Subscriber, for graphql-ws the arguments of an execution and the
 * iterable that is its result. One object for all three, as each waiting subscriber has one.
 *
 * As an iterable it yields nothing: the hub's results go to the socket past graphql-ws. Its only `next` stays pending until
 * the subscription ends.
 */
export class WebSocketSubscription
  extends ClientSubscription<WebSocketSubscriptionOwner>
  implements AsyncIterableIterator<never, undefined>
{
  #settle: Settle | undefined;

  constructor(
    id: string,
    operation: Operation,
    extensions: SubscribeExtensions,
    owner: WebSocketSubscriptionOwner,
  ) {
    super(idText(id), operation, extensions, owner);
  }

  next(): Promise<IteratorResult<never, undefined>> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (this.ended !== undefined) this.#finish(resolve, this.ended);
    });
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.owner.sendQueue.discard(this);
    this.end([]);
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get schema(): GraphQLSchema {
    return this.owner.schema;
  }

  get document(): DocumentNode {
    return this.operation.document;
  }

  get operationName(): string | undefined {
    return this.operation.name;
  }

  get rootValue(): undefined {
    return undefined;
  }

  get contextValue(): undefined {
    return undefined;
  }

  protected tellEnd(errors: readonly GraphQLError[]): void {
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle !== undefined) this.#finish(settle, errors);
  }

  /** A rejection goes through `resolve` too, so that the subscription holds one function less. */
  #finish(settle: Settle, [error]: readonly GraphQLError[]): void {
    settle(error === undefined ? DONE : Promise.reject(error));
  }
}
