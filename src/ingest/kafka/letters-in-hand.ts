import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Backoff } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';
import type { DeadLetterMessage } from '../dead-letter.ts';
import type { RecordBatch, StoppableSink } from './driver.ts';

interface LettersInHandOptions {
  readonly sink: StoppableSink;
  readonly log: Log;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** How long the other partitions of a member wait for the letters of one. */
const PATIENCE_MS = 2_000;

const RETRY = { firstMs: 250, maxMs: 15_000 };

/** The dead-letter topic has not taken letters yet. */
export class LettersNotTaken extends Error {
  readonly messages: readonly DeadLetterMessage[];
  /** The last attempt, which may still succeed. */
  readonly attempt: Promise<void>;

  constructor(messages: readonly DeadLetterMessage[], attempt: Promise<void>, cause: unknown) {
    super(`the dead-letter topic takes nothing: ${messageOf(cause)}`, { cause });
    this.name = 'LettersNotTaken';
    this.messages = messages;
    this.attempt = attempt;
  }
}

/** Dead letters on their way. A dead-letter topic that is down holds up only the partitions that have a letter for it. */
export class LettersInHand implements StoppableSink {
  readonly #options: LettersInHandOptions;

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

  stop(): Promise<void> {
    return this.#options.sink.stop();
  }

  /**
   * Tries again until the letters are taken.
   *
   * @param isWaited false once nobody waits for it any more
   * @returns whether the letters are taken
   */
  async untilTaken(
    { topic, partition }: Pick<RecordBatch, 'topic' | 'partition'>,
    error: LettersNotTaken,
    isWaited: () => boolean,
  ): Promise<boolean> {
    const { sink, log, clock, stopping } = this.#options;
    log.warn({ topic, partition, error: error.message }, 'a partition waits for the dead-letter topic');
    const backoff = new Backoff({ ...RETRY, random: clock.random });
    let attempt = error.attempt;
    while (!stopping.aborted && isWaited()) {
      try {
        await attempt;
        log.info(
          { topic, partition },
          'the dead-letter topic has taken the letters of a partition, which goes on',
        );
        return true;
      } catch (thrown) {
        log.debug({ topic, partition, error: messageOf(thrown) }, 'the dead-letter topic takes nothing');
      }
      await clock.sleep(backoff.next(), stopping);
      attempt = sink.send(error.messages);
      attempt.catch(() => undefined); // It is awaited, unless the partition has gone meanwhile.
    }
    return false;
  }
}
