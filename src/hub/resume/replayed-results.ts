import type { Message } from '../../events/message.ts';
import type { Json, ReadSet } from '../../lazy/reads.ts';
import type { SerializedResult } from '../result.ts';

interface Replayed {
  readonly reads: ReadSet;
  readonly result: SerializedResult;
}

/** Results of executions that have read the same of their viewers. */
interface SameReads {
  readonly reads: ReadSet;
  readonly identity: string;
  /** By the values that were read. */
  readonly results: Map<string, SerializedResult>;
}

/** Kept of one message in one group. Where more viewers differ, few share a result, and all would take much memory. */
const MAX_RESULTS = 64;

/**
 * Results of one group for messages that are recorded, for as long as they are: a subscriber that resumes later, and
 * agrees with an earlier one on all that was read, shares its result.
 */
export class ReplayedResults {
  readonly #byMessage = new WeakMap<Message, SameReads[]>();

  find(message: Message, viewer: Json): Replayed | undefined {
    for (const { reads, results } of this.#byMessage.get(message) ?? []) {
      const result = results.get(reads.valuesIn(viewer));
      if (result !== undefined) return { reads, result };
    }
    return undefined;
  }

  add(message: Message, viewer: Json, reads: ReadSet, result: SerializedResult): void {
    const known = this.#byMessage.get(message) ?? [];
    if (known.reduce((count, { results }) => count + results.size, 0) >= MAX_RESULTS) return;
    const { identity } = reads;
    let same = known.find((other) => other.identity === identity);
    if (same === undefined) known.push((same = { reads, identity, results: new Map() }));
    same.results.set(same.reads.valuesIn(viewer), result);
    this.#byMessage.set(message, known);
  }
}
