import type { ClientSubscription } from './client-subscription.ts';

/** The subscriptions of each connection to fields with a throttle: the hub may hold events for these. */
export class ThrottledSubscriptions {
  readonly #byOwner = new Map<object, Set<ClientSubscription>>();

  get size(): number {
    return this.#byOwner.size;
  }

  /** Does nothing for one without a throttle. */
  add(owner: object, subscription: ClientSubscription): void {
    if ((subscription.group?.plan.delivery?.throttleMs ?? 0) === 0) return;
    const subscriptions = this.#byOwner.get(owner);
    if (subscriptions === undefined) this.#byOwner.set(owner, new Set([subscription]));
    else subscriptions.add(subscription);
  }

  remove(owner: object, subscription: ClientSubscription): void {
    const subscriptions = this.#byOwner.get(owner);
    if (subscriptions?.delete(subscription) === true && subscriptions.size === 0) this.#byOwner.delete(owner);
  }

  /** The connection is about to be closed: its subscriptions get the events that are held for them. */
  flush(owner: object): void {
    for (const subscription of this.#byOwner.get(owner) ?? []) subscription.group?.flushFor(subscription);
  }
}
