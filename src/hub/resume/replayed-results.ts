import type { Message } from '../../events/message.ts';
import type { Json, ReadSet } from '../../lazy/reads.ts';
import type { SerializedResult } from '../result.ts';

interface Replayed {
  readonly reads: ReadSet;
  /** What was read. */
  readonly values: string;
  readonly result: SerializedResult;
}

/**
 * Results of one group for messages that are recorded, for as long as they are: whoever resumes later, and agrees with an
 * earlier one on all that was read, shares its result.
 */
export class ReplayedResults {
  readonly #byMessage = new WeakMap<Message, Replayed[]>();

  find(message: Message, viewer: Json): Replayed | undefined {
    return this.#byMessage.get(message)?.find(({ reads, values }) => reads.valuesIn(viewer) === values);
  }

  add(message: Message, viewer: Json, reads: ReadSet, result: SerializedResult): void {
    const replayed = { reads, values: reads.valuesIn(viewer), result };
    const known = this.#byMessage.get(message);
    if (known === undefined) this.#byMessage.set(message, [replayed]);
    else known.push(replayed);
  }
}
