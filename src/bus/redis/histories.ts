import { messageOf } from '../../errors.ts';
import type { HistorySettings } from '../../events/history-settings.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import type { Listener } from '../bus.ts';
import { NoHistory, type HistoryPosition, type HistoryRead } from '../history.ts';
import type { CommandConnection, ListeningConnection } from './connection.ts';
import type { BusNames } from './names.ts';
import { TopicHistory } from './topic-history.ts';
import { TopicListener } from './topic-listener.ts';

/** As long as the connection to Redis is not there, history is tried to be read so often, for so long. */
const RETRY_MS = 100;
const LONGEST_MS = 30_000;

interface HistoriesOptions {
  /** By topic. */
  readonly settings: ReadonlyMap<string, HistorySettings>;
  readonly commands: Pick<CommandConnection, 'send'>;
  readonly listening: Pick<ListeningConnection, 'fence'>;
  readonly names: BusNames;
  readonly clock: Clock;
  readonly log: Log;
  /** The connection is lost: what the topic's listeners miss is read later, or told by `missed`. */
  readonly lost: (topic: string) => void;
  /** Messages of the topic may be missing. */
  readonly missed: (topic: string) => void;
  /** What was missed of the topic has been read. */
  readonly wasRead: (topic: string) => void;
}

interface Kept {
  readonly history: TopicHistory;
  readonly listener: TopicListener;
}

/** The topics of which Redis keeps messages for this gateway. */
export class Histories {
  readonly #topics: ReadonlyMap<string, Kept>;
  readonly #options: HistoriesOptions;
  #stopping = new AbortController().signal;

  constructor(options: HistoriesOptions) {
    this.#options = options;
    this.#topics = new Map(
      [...options.settings].map(([topic, settings]) => [topic, keep(topic, settings, options)]),
    );
  }

  /** For publishing. */
  get byTopic(): ReadonlyMap<string, TopicHistory> {
    return new Map([...this.#topics].map(([topic, { history }]) => [topic, history]));
  }

  start(signal: AbortSignal): void {
    this.#stopping = signal;
    for (const { history } of this.#topics.values()) void history.keepRenewing(signal);
  }

  /** @returns the listener for the messages of the channel as they arrive */
  listen(topic: string, channel: string, listener: Listener): Listener {
    return this.#topics.get(topic)?.listener.listen(channel, listener) ?? listener;
  }

  /** Resolves once the channel, which has been subscribed to, is kept, or can't be. */
  async joined(topic: string, channel: string): Promise<void> {
    const kept = this.#topics.get(topic);
    await kept?.history.joined(channel);
    kept?.listener.joined(channel);
  }

  left(topic: string, channel: string): void {
    const kept = this.#topics.get(topic);
    kept?.history.left(channel);
    kept?.listener.leave(channel);
  }

  /** The listening connection is lost. */
  lost(): void {
    for (const [topic, { listener }] of this.#topics) {
      listener.hold();
      this.#options.lost(topic);
    }
  }

  /** There is another one. */
  listens(): void {
    for (const { listener } of this.#topics.values()) void listener.heal();
  }

  position(topic: string): HistoryPosition | undefined {
    return this.#topics.get(topic)?.listener.position;
  }

  /**
   * Reads what is kept; while the connections to Redis are away, it waits for them.
   *
   * @throws NoHistory
   */
  async read(topic: string, channels: readonly string[], since: number): Promise<HistoryRead> {
    const kept = this.#topics.get(topic);
    if (kept === undefined) throw new NoHistory(topic, 'the topic has none');
    const { clock } = this.#options;
    const began = clock.now();
    for (;;) {
      try {
        return await this.#tryReading(kept, channels, since);
      } catch (thrown) {
        if (thrown instanceof NoHistory) throw thrown;
        if (this.#stopping.aborted || clock.now() - began > LONGEST_MS)
          throw new NoHistory(topic, messageOf(thrown));
        await clock.sleep(RETRY_MS, this.#stopping);
      }
    }
  }

  async #tryReading({ history, listener }: Kept, channels: readonly string[], since: number) {
    const read = await history.read(since, channels);
    await this.#options.listening.fence();
    // Over a new connection messages are heard before those that were missed.
    await listener.healed();
    listener.advance(read.position);
    return read;
  }
}

function keep(topic: string, settings: HistorySettings, options: HistoriesOptions): Kept {
  const { commands, listening, names, clock, log, missed, wasRead } = options;
  const fence = (): Promise<void> => listening.fence();
  const history: TopicHistory = new TopicHistory({
    topic,
    settings,
    connection: commands,
    names,
    clock,
    log,
    heard: () => listener.heard,
    wasRead: () => wasRead(topic),
    stands: async (position) => {
      await fence();
      listener.advance(position);
    },
  });
  const listener: TopicListener = new TopicListener({
    topic,
    read: (since, channels) => history.read(since, channels),
    fence,
    missed: () => missed(topic),
    begunAnew: () => void history.renew(),
    clock,
    log,
  });
  return { history, listener };
}
