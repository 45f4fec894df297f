import type { Deletions } from '../../events/deletion.ts';
import { keyIn } from '../../events/in-stream.ts';
import type { RecordedMessage } from './recording.ts';

/** Which of the messages that subscribers begin with are deleted. They stay deleted even if later messages have their keys. */
export class Deleted {
  readonly #upTo = new Map<string, number>();
  #forgottenUpTo = 0;
  #last = 0;

  /** The sequence of the topic's last deletion that is known of: 0 if there is none. */
  get last(): number {
    return this.#last;
  }

  /** Adds deletions of further keys, or later deletions. */
  add({ upTo, forgottenUpTo, last }: Deletions): void {
    for (const [key, sequence] of upTo) {
      this.#upTo.set(key, Math.max(sequence, this.#upTo.get(key) ?? 0));
    }
    this.#forgottenUpTo = Math.max(forgottenUpTo, this.#forgottenUpTo);
    this.#last = Math.max(last, this.#last);
  }

  merge(other: Deleted): void {
    this.add({ upTo: other.#upTo, forgottenUpTo: other.#forgottenUpTo, last: other.#last });
  }

  /** Whether the message is left out: its key was deleted later, or may have been, as deletions that old are forgotten. */
  has({ sequence, message }: RecordedMessage): boolean {
    const key = keyIn(message);
    if (key === null) return false;
    return sequence <= this.#forgottenUpTo || sequence <= (this.#upTo.get(key) ?? 0);
  }

  /** Whether the message may be deleted, but that is not certain. */
  mayHave(recorded: RecordedMessage): boolean {
    const { sequence, message } = recorded;
    return this.has(recorded) && sequence > (this.#upTo.get(keyIn(message) ?? '') ?? 0);
  }
}
