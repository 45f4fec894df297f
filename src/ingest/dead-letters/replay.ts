import type { ReplaySink } from './kafka.ts';
import { replayOf, type Letter, type ReplayMessage } from './letter.ts';
import type { Letters } from './letters.ts';

interface ReplayOptions {
  readonly letters: Letters;
  readonly isMeant: (letter: Letter) => boolean;
  /** The most letters to send. */
  readonly limit: number;
  /** Undefined: nothing is sent. */
  readonly sink: ReplaySink | undefined;
  /** Called for each letter that has been sent, or would be without a sink, in order. */
  readonly onReplayed: (letter: Letter) => void;
  /** When it aborts, the replay waits for the batch that is being sent, and sends no more. */
  readonly stopping: AbortSignal;
}

export interface ReplayOutcome {
  /** Acknowledged; without a sink, those that would be sent. */
  readonly replayed: number;
  /** Meant, but without a value to send. */
  readonly withoutValue: number;
  /** By partition of the dead-letter topic: the offset to go on at. Absent partitions begin where they began before. */
  readonly goOnAt: ReadonlyMap<number, number>;
  /** Why it ended early; undefined if it did not. */
  readonly error: unknown;
  /** Letters that may have been written, though they are not acknowledged. A replay that goes on sends them again. */
  readonly uncertain: number;
}

/** The most to send together; brokers accept about 1 MB by default. */
const BATCH_BYTES = 256 * 1_024;
const BATCH_LETTERS = 500;

/**
 * Sends letters back, batch by batch: each is sent once the one before is acknowledged, so the order is kept, and it is
 * always known where to go on.
 */
export class Replay {
  readonly #options: ReplayOptions;
  #letters: Letter[] = [];
  #messages: ReplayMessage[] = [];
  #bytes = 0;
  #goOnAt: ReadonlyMap<number, number>;
  /** The positions after the last letter that is in the batch, or was passed over. */
  #behind: ReadonlyMap<number, number>;
  #meant = 0;
  #replayed = 0;
  #withoutValue = 0;
  #uncertain = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#goOnAt = this.#behind = options.letters.positions();
  }

  /** Never rejects. */
  async run(): Promise<ReplayOutcome> {
    try {
      await this.#all();
      return this.#outcome(undefined);
    } catch (error) {
      return this.#outcome(error);
    }
  }

  async #all(): Promise<void> {
    const { letters, isMeant, limit, stopping } = this.#options;
    for await (const letter of letters.matching(isMeant)) {
      stopping.throwIfAborted();
      this.#add(letter);
      if (this.#bytes >= BATCH_BYTES || this.#letters.length >= BATCH_LETTERS) await this.#flush();
      if (this.#meant === limit) break;
    }
    stopping.throwIfAborted();
    this.#behind = letters.positions();
    await this.#flush();
  }

  #add(letter: Letter): void {
    const message = replayOf(letter);
    if (message === undefined) {
      this.#withoutValue += 1;
    } else {
      this.#meant += 1;
      this.#letters.push(letter);
      this.#messages.push(message);
      this.#bytes += message.value.length + (message.key?.length ?? 0);
    }
    this.#behind = this.#options.letters.positions();
  }

  async #flush(): Promise<void> {
    const { sink, onReplayed } = this.#options;
    if (sink !== undefined && this.#messages.length > 0) {
      this.#uncertain = this.#messages.length;
      await sink.send(this.#messages);
      this.#uncertain = 0;
    }
    this.#replayed += this.#letters.length;
    for (const letter of this.#letters) onReplayed(letter);
    this.#letters = [];
    this.#messages = [];
    this.#bytes = 0;
    this.#goOnAt = this.#behind;
  }

  #outcome(error: unknown): ReplayOutcome {
    return {
      replayed: this.#replayed,
      withoutValue: this.#withoutValue,
      goOnAt: this.#goOnAt,
      error,
      uncertain: this.#uncertain,
    };
  }
}
