import { GraphQLError } from 'graphql';
import type { Group } from './group.ts';
import type { GroupServices } from './group-services.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';

/** What has become of the subscriptions of a graph that was replaced. */
export interface Replaced {
  /** Subscribers that go on. */
  readonly kept: number;
  /** Subscribers that get an error and end, once they have got the results under way. */
  readonly ended: number;
  /** Whether all events that were under way are done. */
  readonly isDone: () => boolean;
}

/**
 * Has each group go on with another graph, or ends it.
 *
 * @param planFor the plan for a group, or the error that it ends with
 * @param services of the graph that is in force from now on
 * @param close is called for a group before it ends
 * @returns the groups that go on, too
 */
export function replaceGroups(
  groups: readonly Group[],
  planFor: (plan: SubscriptionPlan) => SubscriptionPlan | GraphQLError,
  services: GroupServices,
  close: (group: Group) => void,
): Replaced & { readonly renewed: readonly Group[] } {
  const renewed: Group[] = [];
  let [kept, ended] = [0, 0];
  let underWay: (() => boolean)[] = [];
  for (const group of groups) {
    const next = planFor(group.plan);
    if (next instanceof GraphQLError) {
      ended += group.size;
      close(group);
      group.end([next]);
      if (group.size > 0) underWay.push(() => group.size === 0);
    } else {
      kept += group.size;
      const isDone = group.renew(next, services);
      renewed.push(group);
      if (!isDone()) underWay.push(isDone);
    }
  }
  const isDone = (): boolean => {
    underWay = underWay.filter((isOver) => !isOver());
    return underWay.length === 0;
  };
  return { renewed, kept, ended, isDone };
}
