import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import type { Operation } from '../../executor/operation.ts';
import { idText } from './frame.ts';
import type { SlowPolicy } from '../../graph/graph.ts';
import type { Group } from '../../hub/group.ts';
import type { Subscriber } from '../../hub/subscriber.ts';
import type { LateReceiver } from './late-results.ts';
import type { SendQueue } from './send-queue.ts';
import type { SerializedResult } from '../../hub/result.ts';
import type { Json } from '../../lazy/reads.ts';

type Settle = (result: IteratorReturnResult<undefined> | Promise<never>) => void;

/** The part of a connection that a subscription uses. */
export interface SubscriptionOwner {
  readonly sendQueue: SendQueue;
  readonly schema: GraphQLSchema;
  readonly viewer: Json;
  joined(subscription: WebSocketSubscription): void;
  left(subscription: WebSocketSubscription): void;
  /** The client is to connect again. */
  reconnect(): void;
}

/** What a client may ask for in `extensions` of a subscription. */
export interface SubscribeExtensions {
  /** True: it is told where events may be missing. */
  readonly gaps?: unknown;
  /** The cursor of the last event that it has got; null: it has got none. Absent: it does not want to resume. */
  readonly resume?: unknown;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * One subscription on one WebSocket: to the hub a Subscriber, to graphql-ws the arguments of an execution and the
 * iterable that it results in. One object for all three, since each waiting subscriber has one.
 *
 * As an iterable it yields nothing: the hub's results go to the socket past graphql-ws. Its only `next` stays pending
 * until the subscription ends.
 */
export class WebSocketSubscription
  implements Subscriber, LateReceiver, AsyncIterableIterator<never, undefined>
{
  readonly wantsGaps: boolean;
  /** Whether results are to have cursors. */
  readonly #resumes: boolean;
  readonly #owner: SubscriptionOwner;
  /** As it is written into frames. */
  readonly id: string;
  /** Undefined while there is a group, which has it: it is another one once the graph is replaced. */
  #ungrouped: Operation | undefined;
  #group: Group | undefined;
  #settle: Settle | undefined;
  #ended: readonly GraphQLError[] | undefined;

  constructor(
    id: string,
    operation: Operation,
    { gaps, resume }: SubscribeExtensions,
    owner: SubscriptionOwner,
  ) {
    this.#ungrouped = operation;
    this.#resumes = resume !== undefined;
    this.wantsGaps = this.#resumes || gaps === true;
    this.#owner = owner;
    this.id = idText(id);
  }

  /** Called once, right after the hub has added it to the group. */
  joined(group: Group): void {
    this.#group = group;
    this.#ungrouped = undefined;
    this.#owner.joined(this);
  }

  get group(): Group | undefined {
    return this.#group;
  }

  /** The viewer was `previous` until now. A subscription that the new one may not hold ends with the reason. */
  viewerChanged(previous: Json): void {
    const group = this.#group;
    // First, as the group finds a subscriber that leaves by its viewer.
    group?.viewerChanged(this, previous);
    const refusal = group?.plan.refusal?.(this.viewer);
    if (refusal !== undefined) this.end([refusal]);
  }

  deliver(result: SerializedResult): void {
    if (this.#ended !== undefined) return;
    const { sendQueue } = this.#owner;
    if (this.onSlow !== 'DISCONNECT' && sendQueue.isSlow) {
      sendQueue.addLate(this, result);
    } else {
      sendQueue.add(this.withGap(result, 0), this.id);
    }
  }

  /** What it has missed is not to be left out, since it comes faster than any socket takes it. */
  get isBehind(): boolean {
    const { sendQueue } = this.#owner;
    return this.onSlow === 'DISCONNECT' ? sendQueue.isBehind : sendQueue.isSlow;
  }

  get onSlow(): SlowPolicy {
    return this.#group?.plan.delivery?.onSlow ?? 'DISCONNECT';
  }

  withGap(result: SerializedResult, leftOut: number): SerializedResult {
    if (!this.wantsGaps) return result.shared;
    return result.telling(result.leftOutFor(this) + leftOut, this.#resumes, leftOut === 0);
  }

  reconnect(): void {
    this.#owner.reconnect();
  }

  end(errors: readonly GraphQLError[]): void {
    if (this.#ended !== undefined) return;
    this.#ended = errors;
    this.#owner.sendQueue.release(this);
    this.#owner.left(this);
    this.#ungrouped = this.#operation;
    this.#group = undefined;
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle !== undefined) this.#finish(settle);
  }

  next(): Promise<IteratorResult<never, undefined>> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (this.#ended !== undefined) this.#finish(resolve);
    });
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.#owner.sendQueue.discard(this);
    this.end([]);
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get viewer(): Json {
    return this.#owner.viewer;
  }

  get owner(): object {
    return this.#owner;
  }

  get schema(): GraphQLSchema {
    return this.#owner.schema;
  }

  get document(): DocumentNode {
    return this.#operation.document;
  }

  get operationName(): string | undefined {
    return this.#operation.name;
  }

  get rootValue(): undefined {
    return undefined;
  }

  get contextValue(): undefined {
    return undefined;
  }

  get #operation(): Operation {
    return (this.#group?.plan.operation ?? this.#ungrouped) as Operation;
  }

  /** A rejection goes through `resolve` too, so that the subscription holds one function less. */
  #finish(settle: Settle): void {
    const error = this.#ended?.[0];
    settle(error === undefined ? DONE : Promise.reject(error));
  }
}
