import type { Message } from '../../events/message.ts';
import type { Json, ReadSet } from '../../lazy/reads.ts';
import type { SerializedResult } from '../result.ts';
import type { SubscriptionPlan } from '../subscription-plan.ts';

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

/** Most results of one message in one group. If more viewers differ, few share a result, and all would take much memory. */
const MAX_RESULTS = 64;

/** Beyond so many bytes all results are forgotten; the next subscribers need new executions. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Bytes that a result takes besides its JSON, with and without its cursor. */
const BYTES_PER_RESULT = 512;

/**
 * Results of all groups for recorded messages, kept as long as the messages: a subscriber that resumes later shares the
 * result of an earlier one of its group if both agree on all that was read. A group that continues with another graph has
 * another plan, so it finds no results of the previous graph.
 */
export class ReplayedResults {
  readonly #maxBytes: number;
  #byMessage = new WeakMap<Message, Map<SubscriptionPlan, SameReads[]>>();
  /** Bytes of all results added since results were last forgotten, including those of messages that are gone. */
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  find(plan: SubscriptionPlan, message: Message, viewer: Json): Replayed | undefined {
    for (const { reads, results } of this.#byMessage.get(message)?.get(plan) ?? []) {
      const result = results.get(reads.valuesIn(viewer));
      if (result !== undefined) return { reads, result };
    }
    return undefined;
  }

  add(
    plan: SubscriptionPlan,
    message: Message,
    viewer: Json,
    reads: ReadSet,
    result: SerializedResult,
  ): void {
    const known = this.#of(plan, message);
    if (known.reduce((count, { results }) => count + results.size, 0) >= MAX_RESULTS) return;
    const { identity } = reads;
    let same = known.find((other) => other.identity === identity);
    if (same === undefined) known.push((same = { reads, identity, results: new Map() }));
    same.results.set(same.reads.valuesIn(viewer), result);
    result.keep();
    // Beside the result, it may have one with its cursor, and both compressed.
    this.#bytes += BYTES_PER_RESULT + 4 * result.json.length;
    if (this.#bytes > this.#maxBytes) {
      this.#byMessage = new WeakMap();
      this.#bytes = 0;
    }
  }

  #of(plan: SubscriptionPlan, message: Message): SameReads[] {
    let byPlan = this.#byMessage.get(message);
    if (byPlan === undefined) this.#byMessage.set(message, (byPlan = new Map()));
    let known = byPlan.get(plan);
    if (known === undefined) byPlan.set(plan, (known = []));
    return known;
  }
}
