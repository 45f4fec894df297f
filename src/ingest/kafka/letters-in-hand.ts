import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Backoff } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';
import type { DeadLetterMessage } from '../dead-letter.ts';
import type { RecordBatch, StoppableSink } from './driver.ts';
import type { HeldBatch } from './state.ts';

interface LettersInHandOptions {
  readonly sink: StoppableSink;
  readonly log: Log;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** A partition that waits until the dead-letter topic has taken letters of it. */
interface WaitingPartition extends HeldBatch {
  /** Offset of the last record that is done with once they are taken. */
  readonly lastOffset: number;
  isTaken: boolean;
  /** Ends the pause of the partition. */
  readonly resume: (() => void)[];
}

/** How long the other partitions of a member wait for the letters of one. */
const PATIENCE_MS = 2_000;

const RETRY = { firstMs: 250, maxMs: 15_000 };

/** The dead-letter topic has not taken letters yet. */
export class LettersNotTaken extends Error {
  readonly messages: readonly DeadLetterMessage[];
  /** It may take them still. */
  readonly attempt: Promise<void>;

  constructor(messages: readonly DeadLetterMessage[], attempt: Promise<void>, cause: unknown) {
    super(`the dead-letter topic takes nothing: ${messageOf(cause)}`, { cause });
    this.name = 'LettersNotTaken';
    this.messages = messages;
    this.attempt = attempt;
  }
}

/**
 * Dead letters on their way. A dead-letter topic that is away or gone stops the partitions that have a letter for it, and no
 * others: they are paused, and their records committed once the letters are taken.
 */
export class LettersInHand implements StoppableSink {
  readonly #options: LettersInHandOptions;
  readonly #waiting = new Map<string, WaitingPartition>();

  constructor(options: LettersInHandOptions) {
    this.#options = options;
  }

  /** @throws LettersNotTaken after a while */
  async send(messages: readonly DeadLetterMessage[]): Promise<void> {
    const { sink, clock } = this.#options;
    const attempt = sink.send(messages);
    const done = new AbortController();
    const patience = clock.sleep(PATIENCE_MS, done.signal).then(() => {
      throw new Error(`no answer within ${PATIENCE_MS} ms`);
    });
    try {
      await Promise.race([attempt, patience]);
    } catch (thrown) {
      throw new LettersNotTaken(messages, attempt, thrown);
    } finally {
      patience.catch(() => undefined);
      done.abort();
    }
  }

  /** Why a partition waits; undefined if it does not. */
  held(topic: string, partition: number): HeldBatch | undefined {
    const waiting = this.#waiting.get(keyOf(topic, partition));
    return waiting?.isTaken === false ? waiting : undefined;
  }

  /** Offset of the last record that has been published of a partition that waits. */
  published(topic: string, partition: number): number | undefined {
    return this.#waiting.get(keyOf(topic, partition))?.lastOffset;
  }

  /** Pauses the partition until the letters of its records up to `lastOffset` are taken. */
  wait(batch: RecordBatch, lastOffset: number, error: LettersNotTaken): void {
    const { topic, partition } = batch;
    const reason = error.message;
    this.#options.log.warn(
      { topic, partition, error: reason },
      'a partition waits for the dead-letter topic',
    );
    const resume = [batch.pause()];
    const waiting = { topic, partition, reason, lastOffset, isTaken: false, resume };
    this.#waiting.set(keyOf(topic, partition), waiting);
    void this.#send(waiting, error);
  }

  /**
   * To be asked when a batch of the partition is handed over.
   *
   * @returns whether the records may be processed that are left of it, from the returned index on; undefined: not yet
   */
  async begin(batch: RecordBatch): Promise<number | undefined> {
    const { topic, partition, records } = batch;
    const waiting = this.#waiting.get(keyOf(topic, partition));
    if (waiting === undefined) return 0;
    if (!waiting.isTaken) {
      // It was fetched before the pause.
      waiting.resume.push(batch.pause());
      return undefined;
    }
    const done = records.filter(({ offset }) => offset <= waiting.lastOffset);
    const last = done.at(-1);
    if (last?.offset === waiting.lastOffset || last === undefined)
      this.#waiting.delete(keyOf(topic, partition));
    if (last !== undefined) await batch.commit(last.offset + 1);
    return done.length;
  }

  /** The member has joined anew: another may have the partitions. */
  clear(): void {
    this.#waiting.clear();
  }

  stop(): Promise<void> {
    return this.#options.sink.stop();
  }

  async #send(waiting: WaitingPartition, error: LettersNotTaken): Promise<void> {
    const { sink, log, clock, stopping } = this.#options;
    const { topic, partition } = waiting;
    const backoff = new Backoff({ ...RETRY, random: clock.random });
    let attempt = error.attempt;
    while (!stopping.aborted && this.#waiting.get(keyOf(topic, partition)) === waiting) {
      try {
        await attempt;
        log.info(
          { topic, partition },
          'the dead-letter topic has taken the letters of a partition, which goes on',
        );
        waiting.isTaken = true;
        break;
      } catch (thrown) {
        log.debug({ topic, partition, error: messageOf(thrown) }, 'the dead-letter topic takes nothing');
      }
      await clock.sleep(backoff.next(), stopping);
      attempt = sink.send(error.messages);
      attempt.catch(() => undefined); // It is awaited, unless the partition has gone meanwhile.
    }
    for (const resume of waiting.resume) resume();
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
