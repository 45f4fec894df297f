import type { LedgerEvent } from '../world/ledger.ts';
import type { SimulatedSubscriber } from '../world/subscriber.ts';
import type { World } from '../world/world.ts';
import { isUncovered } from './uncovered.ts';

/** @returns what the promises forbid and has happened all the same: nothing lost untold, doubled or out of order */
export function judge(world: World): string[] {
  return world.subscribers.flatMap((subscriber) => [
    ...unexpected(world, subscriber),
    ...missing(world, subscriber),
  ]);
}

function unexpected({ ledger }: World, { name, pod, deliveries, faults }: SimulatedSubscriber): string[] {
  const violations = faults.map((fault) => `${name} on ${pod} got ${fault}`);
  const seen = new Set<number>();
  const last = new Map<string, number>();
  for (const { number } of deliveries) {
    const event = ledger.events[number - 1];
    if (event === undefined) {
      violations.push(`${name} on ${pod} got ${number}, which was never produced`);
      continue;
    }
    if (seen.has(number)) violations.push(`${name} on ${pod} got ${number} twice`);
    seen.add(number);
    // Per channel and partition, and a topic that is made anew begins again.
    const order = `${event.topicId}/${event.partition}/${event.channel}`;
    const before = last.get(order) ?? -1;
    if (event.offset < before) {
      violations.push(`${name} on ${pod} got ${number} (${order}/${event.offset}) after offset ${before}`);
    }
    last.set(order, Math.max(before, event.offset));
  }
  return violations;
}

function missing(world: World, subscriber: SimulatedSubscriber): string[] {
  const { name, pod, joinedAt = Infinity, endedAt = Infinity, told } = subscriber;
  const got = new Set(subscriber.deliveries.map(({ number }) => number));
  return world.ledger.events
    .filter((event) => isFor(subscriber, event) && event.at > joinedAt && !got.has(event.number))
    .filter((event) => event.isProbe || !told.some((at) => at >= event.at))
    .filter((event) => (event.isProbe ? endedAt === Infinity : !isUncovered(world, subscriber, event)))
    .map(
      ({ number, topicId, partition, offset, at, isProbe }) =>
        `${name} on ${pod} missed ${isProbe ? 'the probe ' : ''}${number} (${topicId}/${partition}/${offset}, ` +
        `produced at ${(at - world.time.now + world.time.elapsed).toFixed(0)}) and was not told`,
    );
}

function isFor(subscriber: SimulatedSubscriber, { topic, channel, malformed }: LedgerEvent): boolean {
  return !malformed && subscriber.wants(topic, channel);
}
