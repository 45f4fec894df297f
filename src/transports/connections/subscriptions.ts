import type { GraphQLError } from 'graphql';
import type { Operation } from '../../executor/operation.ts';
import { AccessError } from '../../graph/auth/refusal.ts';
import type { Hub } from '../../hub/hub.ts';
import type { ClientSubscription } from '../delivery/client-subscription.ts';
import type { CappedConnection, OperationCaps } from './operation-caps.ts';
import type { RefusedSubscriptions } from './refused-subscriptions.ts';

/** Lets the subscriptions of all transports join groups of the hub and leave them, within the caps of their connections. */
export class Subscriptions {
  readonly #hub: Pick<Hub, 'join' | 'leave'>;
  readonly #caps: OperationCaps;
  readonly #refused: Pick<RefusedSubscriptions, 'add'> | undefined;

  /** @param refused undefined: refusals by `@auth` are not kept */
  constructor(
    hub: Pick<Hub, 'join' | 'leave'>,
    caps: OperationCaps,
    refused?: Pick<RefusedSubscriptions, 'add'>,
  ) {
    this.#hub = hub;
    this.#caps = caps;
    this.#refused = refused;
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
      client: connection.client,
      admits: (plan) => this.#caps.refusalOf(plan, connection),
      keeps: (channels, ms) => this.#caps.caused(channels, ms, connection),
      refused: (plan, error) => this.#refused?.add(connection, plan, error, true),
      cursor,
    });
    if (!('plan' in group)) return group;
    subscription.joined(group);
    this.#caps.begun(group.plan, connection);
    return undefined;
  }

  /** Removes a subscription that has ended from its group. */
  leave(subscription: ClientSubscription, connection: CappedConnection): void {
    const { group } = subscription;
    if (group === undefined) return;
    const [error] = subscription.ended ?? [];
    if (error instanceof AccessError) this.#refused?.add(connection, group.plan, error, false);
    this.#hub.leave(group, subscription);
    this.#caps.ended(group.plan, connection);
  }
}
