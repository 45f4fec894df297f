import { DELETED_OF_GENERATION, hashOfKey, type Deletions } from '../../events/deletion.ts';
import { NoHistory } from '../history.ts';
import { valueOf, type Command, type CommandConnection, type Reply } from './connection.ts';
import type { BusNames } from './names.ts';
import { inGroups } from './topic-history.ts';

/** Where deleted keys are noted: see `history-scripts.ts`. */
interface DeletedKeys {
  readonly topic: string;
  readonly epoch: string;
  readonly connection: Pick<CommandConnection, 'transact'>;
  readonly names: BusNames;
}

/**
 * Reads which of these Kafka keys were deleted in the epoch.
 *
 * @throws NoHistory if the epoch has ended, or another error if the connection is lost, or Redis can't do it just now
 */
export async function readDeletions(where: DeletedKeys, keys: readonly string[]): Promise<Deletions> {
  const { topic, epoch, connection, names } = where;
  // An event that is published without history changes only the topic's version, which ends the epoch.
  const state: readonly Command[] = [
    ['HMGET', names.historyKey(topic), 'epoch', 'version', 'deleted', 'forgotten', 'removed'],
    ['GET', names.versionKey(topic)],
  ];
  const first = stateIn(await connection.transact(state), where);
  let { generation, forgottenUpTo, last } = first;
  const upTo = new Map<string, number>();
  if (!first.isAny) return { upTo, forgottenUpTo, last };
  for (const some of inGroups(keys)) {
    const hashes = some.map(hashOfKey);
    const kept = [names.deletedKey(topic, epoch, generation - 1), names.deletedKey(topic, epoch, generation)];
    // Reads the state last, so that it shows what was forgotten meanwhile.
    const asked: readonly Command[] = [
      ...kept.map((key): Command => ['HMGET', key, ...hashes]),
      ['EXISTS', ...kept],
      ...state,
    ];
    const [before, present, count, ...now] = await connection.transact(asked);
    for (const reply of [before, present]) {
      for (const [index, sequence] of (valueOf(reply) as (string | null)[]).entries()) {
        if (sequence !== null) upTo.set(some[index] ?? '', Number(sequence));
      }
    }
    const then = stateIn(now, where);
    // The hashes expire if no pod can renew them, as while the only pod is cut off; it still remembers what it has read.
    const isExpired = then.generation === generation && Number(valueOf(count)) < Math.min(generation + 1, 2);
    ({ generation, forgottenUpTo, last } = then);
    if (isExpired) forgottenUpTo = Math.max(forgottenUpTo, last);
  }
  return { upTo, forgottenUpTo, last };
}

/** @throws NoHistory if the epoch has ended */
function stateIn([held, current]: readonly Reply[], { topic, epoch }: DeletedKeys) {
  const [present, version, noted, forgotten, removed] = valueOf(held) as (string | null | undefined)[];
  if (present !== epoch || version !== valueOf(current)) throw new NoHistory(topic, 'it has just begun anew');
  const generation = Math.floor(Math.max(0, Number(noted ?? 0) - 1) / DELETED_OF_GENERATION);
  return {
    isAny: noted !== null,
    generation,
    forgottenUpTo: Number(forgotten ?? 0),
    last: Number(removed ?? 0),
  };
}
