import { createHash } from 'node:crypto';
import type { EventSource, Publication } from './publisher.ts';

/** This many bytes of a SHA-256 distinguish keys. Only these are kept of a key, however long the key is. */
const HASH_BYTES = 16;

/** Returns the text that stands for a Kafka key in the notes of deleted keys. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest().toString('base64url', 0, HASH_BYTES);
}

/**
 * Makes the publication of a tombstone: no message, but the deletion of all earlier messages of the stream under the
 * key. The payload differs from the payloads of the neighbours.
 *
 * @param key see `keyIn`
 */
export function deletionOf(key: string, source: EventSource): Publication {
  const deletes = hashOfKey(key);
  return { channel: '', payload: `${deletes} ${source.partition} ${source.offset}`, source, deletes };
}

/** The deletions of some keys in a topic's history. */
export interface Deletions {
  /** Sequences by key: messages published under the key up to this sequence are deleted. */
  readonly upTo: ReadonlyMap<string, number>;
  /** Deletions up to this sequence may have been forgotten, as the number of noted ones is limited. */
  readonly forgottenUpTo: number;
  /** The sequence of the last deletion of any key. */
  readonly last: number;
}

/** Minimum of a topic's deleted keys that are noted. Beyond twice this number, the keys deleted first are forgotten. */
export const DELETED_OF_GENERATION = 32_768;
