import { isBehind, type LedgerEvent } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import { outOfPlace } from './cursors.ts';
import { broughtBack, mayBeDeleted } from './deleted.ts';
import { needless } from './needless.ts';
import type { Receiver, RedisServers } from './receiver.ts';
import { isUncovered, mayComeAgain, mayComeLate } from './uncovered.ts';

/** @returns violations of the promises: events that were lost without being told, doubled or out of order */
export function judge(world: World): string[] {
  const receivers: readonly Receiver[] = [...world.subscribers, ...world.clients];
  return [
    ...receivers.flatMap((receiver) => [
      ...unexpected(world, receiver),
      ...missing(world, receiver),
      ...needless(world, receiver),
      ...(receiver.asked.field === receiver.asked.topic ? [] : broughtBack(world, receiver)),
    ]),
    ...world.clients.flatMap((client) => outOfPlace(world, client)),
  ];
}

function unexpected(world: World, receiver: Receiver): string[] {
  const { ledger } = world;
  const { name, pod, asked, deliveries, faults } = receiver;
  const violations = faults.map((fault) => `${name} on ${pod} got ${fault}`);
  const seen = new Set<string>();
  const last = new Map<string, { readonly event: LedgerEvent; readonly servers: RedisServers }>();
  for (const { number, tellings, beginnings, servers } of deliveries) {
    const event = ledger.events[number - 1];
    if (event === undefined) {
      violations.push(`${name} on ${pod} got ${number}, which was never produced`);
      continue;
    }
    // A subscription that begins with the last events gets them again when it begins anew after a telling. A client
    // without a cursor, which pods without histories give none, may come to a pod that is behind, and is told at once.
    const part = String(asked.field === asked.topic ? beginnings : tellings);
    const id = `${part} ${number}`;
    if (seen.has(id)) {
      if (mayComeAgain(world, receiver, event)) continue;
      violations.push(`${name} on ${pod} got ${number} twice`);
    }
    seen.add(id);
    const order = `${part} ${orderOf(event)}`;
    const before = last.get(order);
    if (before !== undefined && isBehind(before.event, event)) {
      if (mayComeLate(world, receiver, event, [before.servers, servers])) continue;
      violations.push(
        `${name} on ${pod} got ${number} (${order}/${placeOf(event)}) after ${placeOf(before.event)}`,
      );
    } else last.set(order, { event, servers });
  }
  return violations;
}

function missing(world: World, receiver: Receiver): string[] {
  const { name, pod, endedAt = Infinity, told } = receiver;
  const got = new Set(receiver.deliveries.map(({ number }) => number));
  const isOwed = owedTo(world, receiver);
  return world.ledger.events
    .filter((event) => isFor(receiver, event) && isOwed(event) && !got.has(event.number))
    .filter((event) => event.isProbe || !told.some(({ at }) => at >= event.at))
    .filter((event) => (event.isProbe ? endedAt === Infinity : !isUncovered(world, receiver, event)))
    .map(
      (event) =>
        `${name} on ${pod} missed ${event.isProbe ? 'the probe ' : ''}${event.number} ` +
        `(${event.topicId}/${event.partition}/${placeOf(event)}, produced at ${(event.at - world.time.now + world.time.elapsed).toFixed(0)}) and was not told`,
    );
}

/** Events produced after the receiver joined; with last events, also undeleted ones behind the first that it got. */
function owedTo(world: World, receiver: Receiver): (event: LedgerEvent) => boolean {
  const { asked, joinedAt = Infinity, deliveries } = receiver;
  const first = new Map<string, LedgerEvent>();
  for (const { number } of asked.field === asked.topic ? [] : deliveries) {
    const event = world.ledger.events[number - 1];
    if (event === undefined) continue;
    const known = first.get(orderOf(event));
    if (known === undefined || isBehind(known, event)) first.set(orderOf(event), event);
  }
  return (event) => {
    const begin = first.get(orderOf(event));
    if (event.at > joinedAt) return true;
    return begin !== undefined && isBehind(event, begin) && !mayBeDeleted(world, event);
  };
}

/** Events are in order for each channel and partition; a topic that is made anew begins again. */
function orderOf({ topicId, partition, channel }: LedgerEvent): string {
  return `${topicId}/${partition}/${channel}`;
}

function placeOf({ offset, leaderEpoch }: LedgerEvent): string {
  return `${offset}.${leaderEpoch}`;
}

function isFor({ asked }: Receiver, { topic, channel, malformed }: LedgerEvent): boolean {
  return !malformed && topic === asked.topic && (asked.channels?.includes(channel) ?? true);
}
