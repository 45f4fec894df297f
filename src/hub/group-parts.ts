import { DeliveryOrder } from './delivery-order.ts';
import { ExecutionRunner } from './execution-runner.ts';
import type { GroupServices } from './group-services.ts';
import { OpenExecutions } from './open-executions.ts';
import { PastViewers } from './past-viewers.ts';
import type { GroupParts } from './shared-execution.ts';
import { SkippedEvents } from './skipped-events.ts';
import type { Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import { ViewerPartitions } from './viewer-partition.ts';

/**
 * @param subscribers all of the group, now and later
 * @param isReplay see `Group.beginReplay`
 */
export function groupParts(
  plan: SubscriptionPlan,
  services: GroupServices,
  subscribers: ReadonlySet<Subscriber>,
  isReplay: boolean,
): GroupParts {
  const { metrics, paths, limiter, late, replayed, maxWaiting, delivery } = services;
  // A replay waits itself: what a subscriber has missed must not be skipped.
  const skipped = new SkippedEvents(subscribers, isReplay ? Infinity : maxWaiting, metrics);
  const order = new DeliveryOrder(subscribers, skipped, delivery);
  return {
    plan,
    runner: new ExecutionRunner(plan, services),
    partitions: new ViewerPartitions(subscribers),
    pastViewers: new PastViewers(),
    order,
    open: new OpenExecutions(order),
    limiter,
    late,
    skipped,
    isReplay,
    isAtOnce: false,
    replayed,
    keyOf: plan.delivery?.onSlow === 'DISCONNECT' ? undefined : plan.delivery?.keyOf,
    metrics,
    paths,
  };
}
