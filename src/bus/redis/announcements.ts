import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import { valueOf, type CommandConnection } from './connection.ts';
import type { BusNames } from './names.ts';

interface AnnouncementsOptions {
  readonly commands: CommandConnection;
  readonly names: BusNames;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with each announcement, once or several times. */
  readonly hear: (text: string) => void;
}

/** Between two attempts to read those that are kept. */
const READ_AGAIN_MS = 500;

/**
 * Messages that no pod may miss. Redis keeps them for a time, in a sorted set by when they were sent, and a pod reads them
 * whenever it begins to listen: after it has joined their channel, so that none falls in between.
 */
export class Announcements {
  readonly #options: AnnouncementsOptions;
  #reading = new AbortController();

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  /** @throws if Redis may not have taken it */
  async send(text: string, keepMs: number): Promise<void> {
    const { commands, names, clock } = this.#options;
    const now = clock.now();
    const key = names.announcementsKey;
    const replies = await commands.transact([
      ['ZADD', key, String(now), text],
      ['ZREMRANGEBYSCORE', key, '-inf', String(now - keepMs)],
      ['PEXPIRE', key, String(keepMs)],
      ['PUBLISH', names.announcementsChannel, text],
    ]);
    replies.forEach(valueOf);
  }

  /** The pod listens, for the first time or again: it reads all that is kept. */
  listening(): void {
    this.stop();
    this.#reading = new AbortController();
    void this.#read(this.#reading.signal);
  }

  stop(): void {
    this.#reading.abort();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { commands, names, clock, log, hear } = this.#options;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const [reply] = await commands.send([['ZRANGE', names.announcementsKey, '0', '-1']]);
        const kept = reply === undefined ? [] : (valueOf(reply) as readonly unknown[]);
        if (!signal.aborted) for (const text of kept) hear(String(text));
        return;
      } catch (thrown) {
        // The connection for commands may be made later than the one that listens.
        if (attempt > 1 && !signal.aborted) {
          log.warn({ reason: messageOf(thrown) }, 'the revocations that Redis keeps can not be read');
        }
      }
      await clock.sleep(READ_AGAIN_MS * Math.min(attempt, 10), signal);
    }
  }
}
