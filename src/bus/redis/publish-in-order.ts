import type { Publication } from '../../events/publisher.ts';
import type { CommandConnection, Reply } from './connection.ts';
import { publishCommand } from './publish-commands.ts';

/**
 * Publishes without a transaction. Redis may then refuse some commands and run later ones, so nothing is sent for a
 * channel before Redis has acknowledged what came before it on the same channel: in one go each channel occurs once.
 *
 * @returns a reply to each that was sent; undefined for the others, since one before them was refused
 * @throws if the connection is lost
 */
export async function publishInOrder(
  connection: Pick<CommandConnection, 'send'>,
  batch: readonly Publication[],
): Promise<readonly (Reply | undefined)[]> {
  const replies = batch.map((): Reply | undefined => undefined);
  let rest = [...batch.entries()];
  while (rest.length > 0) {
    const channels = new Set<string>();
    const now: typeof rest = [];
    const later: typeof rest = [];
    for (const entry of rest) {
      const [, { channel }] = entry;
      (channels.has(channel) ? later : now).push(entry);
      channels.add(channel);
    }
    const results = await connection.send(now.map(([, publication]) => publishCommand(publication)));
    now.forEach(([index], at) => (replies[index] = results[at]));
    if (results.some((reply) => 'error' in reply)) break;
    rest = later;
  }
  return replies;
}
