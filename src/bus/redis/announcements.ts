import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import type { KnownAnnouncements } from '../bus.ts';
import { valueOf, type Command, type CommandConnection } from './connection.ts';
import type { BusNames } from './names.ts';
import type { OwnChannels } from './own-channels.ts';

interface AnnouncementsOptions {
  readonly commands: CommandConnection;
  readonly own: OwnChannels;
  readonly names: BusNames;
  readonly clock: Clock;
  readonly log: Log;
}

const REFUSED =
  'Redis refuses the channel of revocations; until it does not, they are not heard when they are made, but read every few seconds';

/** The pause between two attempts to read the kept announcements. */
const READ_AGAIN_MS = 500;

/** How many announcements are sent again in one transaction. */
const AGAIN_AT_ONCE = 500;

/**
 * Messages that no pod may miss. Redis keeps them for a time, in a sorted set by the time of sending. A pod reads them
 * whenever it begins to listen, after it has joined their channel, so that it misses none in between. It sends those again
 * that Redis has lost, for example after a restart without data: pods that start later must hear them, too.
 */
export class Announcements {
  readonly #options: AnnouncementsOptions;
  /** Undefined: this pod does not listen to announcements. */
  #hear: ((text: string) => void) | undefined;
  #known: KnownAnnouncements | undefined;
  #isJoined = false;
  #hasRead = false;
  #isStopped = false;
  /** Aborts when the kept announcements are read anew. */
  #reading = new AbortController();

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  /** @throws if Redis may not have accepted them */
  async send(texts: readonly string[], keepMs: number): Promise<void> {
    const { commands, names, clock } = this.#options;
    const now = clock.now();
    const key = names.announcementsKey;
    const replies = await commands.transact([
      ['ZADD', key, ...texts.flatMap((text) => [String(now), text])],
      ['ZREMRANGEBYSCORE', key, '-inf', String(now - keepMs)],
      ['PEXPIRE', key, String(keepMs)],
      ...texts.map((text): Command => ['PUBLISH', names.announcementsChannel, text]),
    ]);
    replies.forEach(valueOf);
  }

  /** @param listener called with each announcement, once or several times */
  hear(listener: (text: string) => void, known?: KnownAnnouncements): void {
    this.#hear = listener;
    this.#known = known;
  }

  /** Whether this pod has heard all announcements that were kept when it began to listen. */
  get areHeard(): boolean {
    return this.#hasRead || this.#hear === undefined;
  }

  /** Resolves when the channel is joined, or the bus stops. Without a listener it joins nothing. */
  async start(): Promise<void> {
    const hear = this.#hear;
    if (hear === undefined) return;
    const { own, names } = this.#options;
    await own.join(names.announcementsChannel, (payload) => hear(payload.toString()), {
      level: 'error',
      message: REFUSED,
      // The pod may still be able to read the kept announcements.
      act: () => this.#readAnew(hear),
    });
    if (this.#isStopped) return;
    this.#isJoined = true;
    this.#readAnew(hear);
  }

  /** Called when the pod listens again: it reads all kept announcements. */
  listens(): void {
    if (this.#isJoined && this.#hear !== undefined) this.#readAnew(this.#hear);
  }

  stop(): void {
    this.#isStopped = true;
    this.#reading.abort();
  }

  #readAnew(hear: (text: string) => void): void {
    this.#reading.abort();
    this.#reading = new AbortController();
    void this.#read(hear, this.#reading.signal);
  }

  async #read(hear: (text: string) => void, signal: AbortSignal): Promise<void> {
    const { commands, names, clock, log } = this.#options;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const [reply] = await commands.send([['ZRANGE', names.announcementsKey, '0', '-1']]);
        const kept = (reply === undefined ? [] : (valueOf(reply) as readonly unknown[])).map(String);
        if (signal.aborted) return;
        kept.forEach(hear);
        this.#hasRead = true;
        await this.#announceAgain(new Set(kept), signal);
        return;
      } catch (thrown) {
        // The command connection may be ready later than the listening one.
        if (attempt > 1 && !signal.aborted) {
          log.warn(
            { reason: messageOf(thrown) },
            'revocations can not be read from Redis, or not be written back to it',
          );
        }
      }
      await clock.sleep(READ_AGAIN_MS * Math.min(attempt, 10), signal);
    }
  }

  async #announceAgain(kept: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    if (this.#known === undefined) return;
    const { keepMs } = this.#known;
    const lost = this.#known.texts().filter((text) => !kept.has(text));
    for (let from = 0; from < lost.length && !signal.aborted; from += AGAIN_AT_ONCE)
      await this.send(lost.slice(from, from + AGAIN_AT_ONCE), keepMs);
  }
}
