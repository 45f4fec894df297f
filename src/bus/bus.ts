import type { Deletions } from '../events/deletion.ts';
import type { Publisher } from '../events/publisher.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import type { Consumption } from '../events/consumption.ts';
import type { HistoryBounds, HistoryPosition, HistoryRead } from './history.ts';

/** Called once per message, in the order of the channel's messages. Must not throw. */
export type Listener = (payload: Buffer | string) => void;

/** Called with a topic of which messages may have been missed on this pod, before now. Must not throw. */
export type GapListener = (topic: string) => void;

/** The subscription of one listener to one channel. */
export interface Subscription {
  /** Resolves once every message published from then on will reach the listener; rejects if subscribing failed. */
  readonly ready: Promise<void>;
  /** Unsubscribes: no message reaches the listener after this. A second call has no effect. */
  leave(): void;
}

/** Announcements that a pod has heard, and still heeds. */
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
  /** How many further channels may be subscribed to; those that linger are given up for them. Infinity: no limit. */
  readonly room: number;
  /**
   * The position in the history of the topic up to which all messages of subscribed channels have reached their
   * listeners; undefined if it has none, or the bus can't tell at present.
   */
  position(topic: string): HistoryPosition | undefined;
  /**
   * Reads what is kept of channels that are subscribed to. Once it resolves, all messages up to its position have reached
   * their listeners. Never more is held of it than the bounds say.
   *
   * @param since sequence of the last message that is not needed: 0 if all are
   * @throws NoHistory
   */
  readHistory(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead>;
  /**
   * Which of these Kafka keys were deleted in this epoch of the topic's history. What was read before is complete with it:
   * deletions do not leave messages out of a read.
   *
   * @throws NoHistory, also if the epoch has ended
   */
  deletions(topic: string, epoch: string, keys: readonly string[]): Promise<Deletions>;
  /**
   * Keeps the messages of these topics from now on, in place of those before. Subscriptions go on.
   *
   * @param histories how much is kept, by topic
   */
  keep(histories: ReadonlyMap<string, HistorySettings>): void;
  /** Sets who is told of gaps: only of topics with a channel that is subscribed. */
  onGap(listener: GapListener): void;
  /** Sets what is consumed by this process, before `start`: what the bus has not brought of it is read again. */
  readMissedFrom(consumption: Consumption): void;
  /**
   * Sets who is told when this pod is deaf, before `start`: for some time it has heard nothing of the bus, over which it
   * can publish, and which others listen to. Told again with false once it hears. It may be told the same twice.
   */
  onDeaf(listener: (isDeaf: boolean) => void): void;
  /**
   * Sends what every pod must hear, this one included. A pod that is not listening hears it once it listens again, within
   * the time that it is kept.
   *
   * @throws if it may not have been taken
   */
  announce(text: string, keepMs: number): Promise<void>;
  /**
   * Sets who hears announcements, before `start`. Each may be heard several times, and old ones at any time. Must not
   * throw.
   *
   * @param known what this pod has heard: it is announced again where what keeps announcements has lost it
   */
  onAnnouncement(listener: (text: string) => void, known?: KnownAnnouncements): void;
  /** Whether all announcements that were kept when this pod began to listen have been heard. It stays true. */
  readonly announcementsAreHeard: boolean;
  /**
   * The id that tells this bus from others, for all pods that share it: one that is kept, else the proposed one, which is
   * kept from then on. Undefined if nothing is kept and nothing proposed, or the bus is that of one process.
   *
   * @throws if it can't be told just now
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
