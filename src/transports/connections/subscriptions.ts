import type { GraphQLError } from 'graphql';
import type { Operation } from '../../executor/operation.ts';
import type { Hub } from '../../hub/hub.ts';
import type { ClientSubscription } from '../delivery/client-subscription.ts';
import type { CappedConnection, OperationCaps } from './operation-caps.ts';

/** How the subscriptions of all transports come into groups of the hub and leave them, within the caps of their connections. */
export class Subscriptions {
  readonly #hub: Pick<Hub, 'join' | 'leave'>;
  readonly #caps: OperationCaps;

  constructor(hub: Pick<Hub, 'join' | 'leave'>, caps: OperationCaps) {
    this.#hub = hub;
    this.#caps = caps;
  }

  /** Why a connection may not begin one more operation, whatever it is; undefined: it may. */
  refusal(connection: CappedConnection, id: string): GraphQLError | undefined {
    return this.#caps.refusal(connection, id);
  }

  /**
   * @param cursor see `SubscribeExtensions.resume`
   * @returns why it has not joined a group; undefined: it has
   */
  join(
    subscription: ClientSubscription,
    operation: Operation,
    variables: Readonly<Record<string, unknown>>,
    cursor: unknown,
    connection: CappedConnection,
  ): readonly GraphQLError[] | undefined {
    const group = this.#hub.join(operation, variables, subscription, {
      admits: (plan) => this.#caps.refusalOf(plan, connection),
      cursor,
    });
    if (!('plan' in group)) return group;
    subscription.joined(group);
    this.#caps.begun(group.plan, connection);
    return undefined;
  }

  /** Removes one that has ended from its group. */
  leave(subscription: ClientSubscription, connection: CappedConnection): void {
    const { group } = subscription;
    if (group === undefined) return;
    this.#hub.leave(group, subscription);
    this.#caps.ended(group.plan, connection);
  }
}
