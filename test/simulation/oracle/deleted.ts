import { isBehind, type LedgerEvent, type LedgerTombstone } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Receiver } from './receiver.ts';

/** A replica may lack what was written so long before it became the master. */
const LONGEST_LAG_MS = 3_000;

/** What had been deleted before one came that begins with the last events, and was replayed to it all the same. */
export function broughtBack({ ledger }: World, { name, pod, deliveries, told }: Receiver): string[] {
  return deliveries.flatMap(({ number, beganAt }) => {
    const event = ledger.events[number - 1];
    if (event === undefined || beganAt === undefined) return [];
    // Redis may have taken no note of what was published: then it is told, and begins anew.
    if (told.some(({ at }) => at >= beganAt)) return [];
    const deletion = ledger.tombstones.find((tombstone) => {
      const { acknowledgedAt } = tombstone;
      if (acknowledgedAt === undefined || acknowledgedAt >= beganAt || !deletes(tombstone, event))
        return false;
      // What is published again has been heard as any other.
      const isRepeated = ledger.attempts.get(number)?.some(({ at }) => at >= acknowledgedAt) === true;
      return !isRepeated && !ledger.losses.some(({ at }) => at >= acknowledgedAt - LONGEST_LAG_MS);
    });
    return deletion ? [`${name} on ${pod} got ${number}, which had been deleted`] : [];
  });
}

/** Whether it may be left out where one begins with the last events: a key's deletion is for all partitions. */
export function mayBeDeleted({ ledger }: World, event: LedgerEvent): boolean {
  return ledger.tombstones.some(
    (tombstone) =>
      tombstone.topic === event.topic &&
      tombstone.channel === event.channel &&
      (!isOfLog(tombstone, event) || isBehind(tombstone, event)),
  );
}

function deletes(tombstone: LedgerTombstone, event: LedgerEvent): boolean {
  return tombstone.channel === event.channel && isOfLog(tombstone, event) && isBehind(tombstone, event);
}

function isOfLog({ topicId, partition }: LedgerTombstone, event: LedgerEvent): boolean {
  return topicId === event.topicId && partition === event.partition;
}
