import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import type { Listener } from '../bus.ts';
import type { ListeningConnection } from './connection.ts';
import type { BusTiming } from './timing.ts';

interface OwnChannelsOptions {
  readonly listening: ListeningConnection;
  /** Whether there is a connection, and its messages are read. */
  readonly isReading: () => boolean;
  readonly clock: Clock;
  readonly timing: BusTiming;
  readonly log: Log;
  /** Aborts when the bus stops. */
  readonly signal: AbortSignal;
}

/** Between two attempts to join a channel that Redis refuses. */
const JOIN_AGAIN_MS = 5_000;

/** What the pod does without a channel that Redis refuses. */
export interface Refused {
  /** Logged at the first refusal. */
  readonly level: 'warn' | 'error';
  readonly message: string;
  /** Called at each refusal: every 5 s. */
  readonly act: () => void;
}

/** Joins the channels for messages of pods to each other and to themselves. Without them the pod still gets its events. */
export class OwnChannels {
  readonly #options: OwnChannelsOptions;

  constructor(options: OwnChannelsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the channel is joined, the bus stops, or `unwanted` aborts. Tries again if Redis refuses it.
   *
   * @param unwanted aborts when the channel is not wanted any more: it is left if it is joined all the same
   */
  async join(channel: string, listener: Listener, refused: Refused, unwanted?: AbortSignal): Promise<void> {
    const { clock, listening, log, signal: stopping } = this.#options;
    const signal = unwanted === undefined ? stopping : AbortSignal.any([stopping, unwanted]);
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#attempt(channel, listener);
        if (unwanted?.aborted === true && !stopping.aborted) listening.leave(channel);
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        refused.act();
        if (attempt === 1) log[refused.level]({ channel, reason: messageOf(thrown) }, refused.message);
      }
      await clock.sleep(JOIN_AGAIN_MS, signal);
    }
  }

  /** The attempt itself detects a half-open connection, since there may be no heartbeat yet. */
  async #attempt(channel: string, listener: Listener): Promise<void> {
    const { listening, isReading, clock, timing, log, signal } = this.#options;
    const joining = listening.join(channel, listener);
    const settled = new AbortController();
    const settle = (): void => settled.abort();
    joining.then(settle, settle);
    const over = AbortSignal.any([settled.signal, signal]);
    while (!over.aborted) {
      const { bytesRead } = listening;
      const wasReading = isReading();
      await clock.sleep(timing.silenceMs, over);
      if (over.aborted || !wasReading || !isReading() || listening.bytesRead !== bytesRead) continue;
      log.warn({ channel }, 'Redis does not reply to SUBSCRIBE; connecting again');
      listening.reconnect();
    }
    if (!signal.aborted) await joining;
  }
}
