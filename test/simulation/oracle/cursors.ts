import { parseCursor } from '../../../src/hub/resume/cursor.ts';
import type { SimulatedClient } from '../world/client.ts';
import type { World } from '../world/world.ts';

/**
 * @returns deliveries with which a client's cursors went back: within an epoch they are in the order of the topic,
 *   unless the client was told in between that events may be missing
 */
export function outOfPlace({ ledger }: World, { name, deliveries }: SimulatedClient): string[] {
  // A new master may give sequences again that the former one had given.
  if (ledger.losses.some(({ failover }) => failover !== undefined)) return [];
  const highest = new Map<string, number>();
  return deliveries.flatMap(({ number, cursor, tellings }) => {
    const position = parseCursor(cursor);
    if (position === undefined) return [];
    const { epoch, sequence } = position;
    const part = `${epoch} ${tellings}`;
    const before = highest.get(part) ?? -1;
    highest.set(part, Math.max(before, sequence));
    return sequence > before
      ? []
      : [`${name} got ${number} at ${sequence} behind ${before} of the same epoch`];
  });
}
