import type { GraphQLError } from 'graphql';
import type { SubscriptionPlan } from '../../hub/subscription-plan.ts';
import { shortened } from '../../support/shortened.ts';

/** A subscription that `@auth` has refused a connection. */
export interface RefusedSubscription {
  readonly field: string;
  readonly topic: string;
  /** Null if the client has given none; shortened. */
  readonly operation: string | null;
  /** ms since 1970 */
  readonly at: number;
  /** If false, it had been joined, and ended when its viewer was replaced. */
  readonly isNew: boolean;
  /** The message as the client has got it. */
  readonly message: string;
  readonly code: string;
}

/** Most refusals kept for one connection; the oldest is dropped first. */
const MAX_REFUSED = 5;

/** Names come from clients. */
const MAX_NAME = 100;

/** The last subscriptions that `@auth` has refused each connection, for operators. */
export class RefusedSubscriptions {
  readonly #now: () => number;
  readonly #byConnection = new WeakMap<object, readonly RefusedSubscription[]>();

  /** @param now ms since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(
    connection: object,
    { field, topic, operation }: SubscriptionPlan,
    { message, extensions }: GraphQLError,
    isNew: boolean,
  ): void {
    const refused: RefusedSubscription = {
      field,
      topic,
      operation: operation.name === undefined ? null : shortened(operation.name, MAX_NAME),
      at: this.#now(),
      isNew,
      message,
      code: String(extensions['code']),
    };
    this.#byConnection.set(connection, [...this.of(connection).slice(1 - MAX_REFUSED), refused]);
  }

  /** The oldest first. */
  of(connection: object): readonly RefusedSubscription[] {
    return this.#byConnection.get(connection) ?? [];
  }
}
