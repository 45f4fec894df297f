import type { GraphQLError } from 'graphql';
import type { Operation } from '../../executor/operation.ts';
import type { SlowPolicy } from '../../graph/graph.ts';
import type { Group } from '../../hub/group.ts';
import type { SerializedResult } from '../../hub/result.ts';
import type { Subscriber } from '../../hub/subscriber.ts';
import type { Json } from '../../lazy/reads.ts';
import type { LateReceiver } from './late-results.ts';
import type { SendQueue } from './send-queue.ts';

/** The part of a connection that a subscription uses. */
export interface SubscriptionOwner {
  readonly sendQueue: SendQueue;
  readonly viewer: Json;
  joined(subscription: ClientSubscription): void;
  /** It has ended: the owner makes it leave its group. It has the group until this returns. */
  left(subscription: ClientSubscription): void;
  /** The client is to connect again. */
  reconnect(): void;
}

/** What a client may ask for in `extensions` of a subscription. */
export interface SubscribeExtensions {
  /** True: it gets a result where events may be missing. */
  readonly gaps?: unknown;
  /** The cursor of the last event that it has got; null: it has got none. Absent: it does not want to resume. */
  readonly resume?: unknown;
}

/** One subscription of one client, over any transport: results of the hub go into the connection's send queue. */
export abstract class ClientSubscription<Owner extends SubscriptionOwner = SubscriptionOwner>
  implements Subscriber, LateReceiver
{
  readonly wantsGaps: boolean;
  /** Whether results are to have cursors. */
  readonly #resumes: boolean;
  readonly #owner: Owner;
  readonly id: string;
  /** Undefined while there is a group. Then the group has the operation, which a new graph replaces. */
  #ungrouped: Operation | undefined;
  #group: Group | undefined;
  #ended: readonly GraphQLError[] | undefined;

  /** @param id as written in frames; empty on a wire without ids */
  constructor(id: string, operation: Operation, { gaps, resume }: SubscribeExtensions, owner: Owner) {
    this.#ungrouped = operation;
    this.#resumes = resume !== undefined;
    this.wantsGaps = this.#resumes || gaps === true;
    this.#owner = owner;
    this.id = id;
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

  /** The errors that it ended with; undefined before its end. */
  get ended(): readonly GraphQLError[] | undefined {
    return this.#ended;
  }

  /** The viewer was `previous` until now. A subscription that the new one may not hold ends with the reason. */
  viewerChanged(previous: Json): void {
    const group = this.#group;
    // Before the end: the group finds a leaving subscriber by its viewer.
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

  /** Replays wait while this is true: missed events come faster than any socket takes them, but must not be left out. */
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
    this.#ungrouped = this.operation;
    this.#group = undefined;
    this.tellEnd(errors);
  }

  get viewer(): Json {
    return this.#owner.viewer;
  }

  get owner(): Owner {
    return this.#owner;
  }

  get operation(): Operation {
    return (this.#group?.plan.operation ?? this.#ungrouped) as Operation;
  }

  /** Tells the client that there is no more, and why. Called once, when all delivered results are on their way. */
  protected abstract tellEnd(errors: readonly GraphQLError[]): void;
}
