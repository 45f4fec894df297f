import { createHash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Documents kept. A client gains nothing by repeating one bomb; if it varies the bomb, it pays for each variant. */
const ENTRIES = 1_000;
/** Characters kept, over all documents: of short texts and of messages. */
const CHARACTERS = 1_000_000;
/** The size of an error without its message, in characters. */
const PER_ERROR = 500;
/** Longer texts are kept as a hash, so that large documents evict no others. */
const LONGEST_KEY = 200;

/** The errors of documents that have been refused, by query text; the least recently used is evicted first. */
export class RefusedDocuments {
  readonly #errors = new LRUCache<string, readonly GraphQLError[]>({
    max: ENTRIES,
    maxSize: CHARACTERS,
    sizeCalculation: (errors, key) =>
      errors.reduce((sum, { message }) => sum + message.length + PER_ERROR, key.length + 1),
  });

  get(query: string): readonly GraphQLError[] | undefined {
    return this.#errors.get(keyOf(query));
  }

  add(query: string, errors: readonly GraphQLError[]): void {
    this.#errors.set(keyOf(query), errors);
  }
}

/** A hash can't be confused with a valid text: no valid document begins with a colon. */
function keyOf(query: string): string {
  if (query.length <= LONGEST_KEY) return query;
  return `:${createHash('sha256').update(query).digest('base64')}`;
}
