import type { Deletions } from '../events/deletion.ts';
import type { Publisher } from '../events/publisher.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import type { Consumption } from '../events/consumption.ts';
import type { HistoryBounds, HistoryPosition, HistoryRead } from './history.ts';

/** Called once per message, in the order of the channel's messages. Must not throw. */
export type Listener = (payload: Buffer | string) => void;

/** Called when this pod may have missed messages of the topic, before now. Must not throw. */
export type GapListener = (topic: string) => void;

/** The subscription of one listener to one channel. */
export interface Subscription {
  /** Resolves once every message published from then on will reach the listener; rejects if subscribing failed. */
  readonly ready: Promise<void>;
  /** Unsubscribes: no message reaches the listener after this. A second call has no effect. */
  leave(): void;
}

/** Announcements that a pod has heard and still follows. */
export interface KnownAnnouncements {
  texts(): readonly string[];
  /** How long they are kept: ms. */
  readonly keepMs: number;
}

/** Delivers messages from publishers to the pods that are subscribed: at most once, in order per publisher. */
export interface Bus extends Publisher {
  /** Begins to connect and returns at once; `notReady` reports when the bus has been reached. */
  start(): void;
  stop(): Promise<void>;
  /** @param topic that the channel belongs to */
  subscribe(topic: string, channel: string, listener: Listener): Subscription;
  /** How many more channels can be subscribed to: lingering channels are left to make room for them. Infinity: no limit. */
  readonly room: number;
  /**
   * The position in the history of the topic up to which all messages of subscribed channels have reached their listeners;
   * undefined if the topic has no history, or the bus does not know the position at present.
   */
  position(topic: string): HistoryPosition | undefined;
  /**
   * Reads the kept messages of subscribed channels. Once it resolves, all messages up to its position have reached their
   * listeners. It never holds more than the bounds allow.
   *
   * @param since sequence of the last message that is not needed; 0 if all are needed
   * @throws NoHistory
   */
  readHistory(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead>;
  /**
   * Reports which of these Kafka keys were deleted in this epoch of the topic's history. Deletions remove no messages from
   * a read: an earlier read is complete together with this report.
   *
   * @throws NoHistory, also if the epoch has ended
   */
  deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions>;
  /**
   * Keeps the messages of these topics, and of no others, from now on. Subscriptions go on.
   *
   * @param histories how much is kept, by topic
   */
  keep(histories: ReadonlyMap<string, HistorySettings>): void;
  /** Sets the listener that is called at gaps, only for topics with a subscribed channel. */
  onGap(listener: GapListener): void;
  /** Sets, before `start`, what this process consumes: messages that the bus did not deliver are read again from there. */
  readMissedFrom(consumption: Consumption): void;
  /**
   * Sets, before `start`, the listener called when this pod is deaf: it can publish over the bus, and others listen to it,
   * but it has heard nothing for some time. Called with false once it hears again. The same value may be repeated.
   */
  onDeaf(listener: (isDeaf: boolean) => void): void;
  /**
   * Sends a text that every pod must hear, this one included. A pod that does not listen now hears it if it listens again
   * within `keepMs`.
   *
   * @throws if the bus may not have accepted it
   */
  announce(text: string, keepMs: number): Promise<void>;
  /**
   * Sets, before `start`, the listener of announcements, which must not throw. It may hear each one several times, and old
   * ones at any time.
   *
   * @param known announcements that this pod has heard: the bus sends them again if its store has lost them
   */
  onAnnouncement(listener: (text: string) => void, known?: KnownAnnouncements): void;
  /** Whether all announcements that were kept when this pod began to listen have been heard. It stays true. */
  readonly announcementsAreHeard: boolean;
  /**
   * The id that distinguishes this bus from others, the same for all pods that share it: the stored id, or else the
   * proposed one, which is then stored. Undefined if no id is stored or proposed, or if the bus is within one process.
   *
   * @throws if the id can't be read just now
   */
  id(proposed?: string): Promise<string | undefined>;
  /**
   * Reads no more messages until `resume`. Messages that have been read already, and messages on a new connection,
   * still reach their listeners. No message is lost, unless Redis closes the connection because its output buffer is
   * full.
   */
  pause(): void;
  resume(): void;
  /** Why the bus can't be used yet; undefined once it has been reached, even during later outages. */
  notReady(): string | undefined;
}
