import type { Audience } from './audience.ts';
import type { Message } from '../events/message.ts';
import { DeliveryOrder } from './delivery-order.ts';
import { ExecutionRunner } from './execution-runner.ts';
import type { GroupServices } from './group-services.ts';
import type { GroupTrace } from './group-trace.ts';
import { OpenExecutions } from './open-executions.ts';
import { PastViewers } from './past-viewers.ts';
import type { GroupParts } from './shared-execution.ts';
import { SkippedEvents } from './skipped-events.ts';
import type { Subscriber } from './subscriber.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';
import type { HeldEvent, Recipients } from './throttle/held-events.ts';
import { Throttle } from './throttle/throttle.ts';
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
  // A replay itself waits for room: events that a subscriber has missed must not be skipped.
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

/**
 * @param begin executes an event, in this call or later
 * @param traceOf undefined while no one listens
 * @returns undefined if no event of the group is held
 */
export function throttleOf(
  { plan: { delivery }, order, isReplay }: GroupParts,
  services: GroupServices,
  audience: Audience,
  begin: (held: HeldEvent, recipients: Recipients) => void,
  traceOf: (message: Message) => GroupTrace | undefined,
): Throttle | undefined {
  if (delivery === undefined || delivery.throttleMs === 0) return undefined;
  const { work, heldBytes, dueThrottles, timers, maxWaiting } = services;
  return new Throttle({
    ...services.delivery,
    ...delivery,
    work,
    heldBytes,
    dueThrottles,
    timers,
    audience,
    isReplay,
    maxHeld: maxWaiting,
    hasRoom: () => isReplay || order.pending < maxWaiting,
    whenRoom: (callback) => order.whenBelow(maxWaiting, callback),
    begin,
    traceOf,
  });
}
