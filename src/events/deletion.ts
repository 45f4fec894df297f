import { createHash } from 'node:crypto';
import type { EventSource, Publication } from './publisher.ts';

/** So many bytes of a SHA-256 tell keys apart, and are all that is kept of a key, however long it is. */
const HASH_BYTES = 16;

/** Stands for a Kafka key where it is noted which were deleted. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest().toString('base64url', 0, HASH_BYTES);
}

/**
 * A tombstone as the bus gets it: no message, but word that all the topic had under the key before is deleted. Its payload
 * tells it from its neighbours.
 */
export function deletionOf(key: string, source: EventSource): Publication {
  const deletes = hashOfKey(key);
  return { channel: '', payload: `${deletes} ${source.partition} ${source.offset}`, source, deletes };
}

/** Which of some keys a topic's history has as deleted. */
export interface Deletions {
  /** By key: what was published under it up to this sequence is deleted. */
  readonly upTo: ReadonlyMap<string, number>;
  /** Deletions up to this sequence may have been forgotten: so many can be noted. */
  readonly forgottenUpTo: number;
  /** The sequence of the last deletion of any key. */
  readonly last: number;
}

/** Deleted keys of a topic that are noted at least; of twice as many, the ones deleted first are forgotten. */
export const DELETED_OF_GENERATION = 32_768;
