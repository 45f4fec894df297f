import { isBehind, type LedgerEvent, type LedgerTombstone } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import type { Receiver } from './receiver.ts';

/** A replica that becomes the master may lack the writes of this time. */
const LONGEST_LAG_MS = 3_000;

/** Returns deleted events that were replayed to a receiver whose subscription began after the deletion. */
export function broughtBack({ ledger }: World, { name, pod, deliveries, told }: Receiver): string[] {
  return deliveries.flatMap(({ number, beganAt }) => {
    const event = ledger.events[number - 1];
    if (event === undefined || beganAt === undefined) return [];
    // Redis may not have noted a publication: then the receiver is told, and begins anew.
    if (told.some(({ at }) => at >= beganAt)) return [];
    const deletion = ledger.tombstones.find((tombstone) => {
      const { acknowledgedAt } = tombstone;
      if (acknowledgedAt === undefined || acknowledgedAt >= beganAt || !deletes(tombstone, event))
        return false;
      // An event that was published again is heard like any other.
      const isRepeated = ledger.attempts.get(number)?.some(({ at }) => at >= acknowledgedAt) === true;
      return !isRepeated && !ledger.losses.some(({ at }) => at >= acknowledgedAt - LONGEST_LAG_MS);
    });
    return deletion ? [`${name} on ${pod} got ${number}, which had been deleted`] : [];
  });
}

/** Whether a subscription that begins with the last events may lack this one: a key is deleted in all partitions. */
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
