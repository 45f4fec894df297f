import type { LedgerEvent } from '../world/ledger.ts';
import type { SimulatedSubscriber } from '../world/subscriber.ts';
import type { World } from '../world/world.ts';

/** A pod tells what Redis has lost within this time: its reply timeout, and the time that others are given. */
const TELLING_MS = 15_000;

/** Whether the promises do not cover that this subscriber gets this event. Each of them is a limit of the gateway. */
export function isUncovered(world: World, subscriber: SimulatedSubscriber, event: LedgerEvent): boolean {
  return (
    isGone(subscriber) ||
    isDeleted(world, event) ||
    startedAtItsEnd(world, event) ||
    isLostWithItsPublisher(world, subscriber, event)
  );
}

/** The subscriber left, or its pod ended, perhaps before it could be told: its client connects elsewhere, and fetches anew. */
function isGone({ endedAt }: SimulatedSubscriber): boolean {
  return endedAt !== undefined;
}

/** Its topic was deleted before the group had consumed it. */
function isDeleted({ ledger }: World, { topicId, partition, offset }: LedgerEvent): boolean {
  const committed = ledger.deleted.get(topicId);
  return committed !== undefined && offset >= (committed.get(partition) ?? 0);
}

/**
 * Its topic was made anew, and one of the pods that joined since had never known the former one: with that Kafka has deleted
 * the group's positions, so that the group looks like a new one, which starts at the end.
 */
function startedAtItsEnd({ ledger }: World, { topic, topicId, at }: LedgerEvent): boolean {
  if (![...ledger.deleted.keys()].some((id) => id !== topicId && id.startsWith(`${topic}-`))) return false;
  return ledger.looks.some(
    (look) =>
      look.topicId === topicId &&
      look.at >= at &&
      !ledger.looks.some(
        (one) => one.pod === look.pod && one.topic === topic && one.topicId !== topicId && one.at < look.at,
      ),
  );
}

/**
 * Redis lost what it had acknowledged: a message, or the version that went with the question who listens. The pod to which it
 * was acknowledged would have told so, and ended before it could.
 */
function isLostWithItsPublisher(
  { ledger, pods }: World,
  { group }: SimulatedSubscriber,
  { number, at: producedAt }: LedgerEvent,
): boolean {
  const attempts = ledger.attempts.get(number) ?? [];
  const acknowledged = attempts.filter((attempt) => attempt.acknowledged);
  const passedOver = ledger.passedOver.filter(
    ({ channel, at }) => at >= producedAt && group?.plan.channels.includes(channel) === true,
  );
  return [...acknowledged, ...(attempts.length === 0 ? passedOver : [])].some(({ pod, at }) => {
    const publisher = pods.find(({ name }) => name === pod);
    const endedAt = publisher?.endedAt ?? Infinity;
    return ledger.losses.some((loss) => loss.at >= at && loss.at > endedAt - TELLING_MS);
  });
}
