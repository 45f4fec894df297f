import type { HistorySettings } from '../../events/history-settings.ts';
import type { Log } from '../../log.ts';
import type { ByteSource } from '../../support/byte-budget.ts';
import type { Clock } from '../../support/clock.ts';
import type { Consumption } from '../../events/consumption.ts';
import type { CommandConnection, ListeningConnection } from './connection.ts';
import type { LinkMetrics } from './link-metrics.ts';
import type { ListenerPace } from './listener-pace.ts';
import type { BusNames } from './names.ts';
import type { BusTiming } from './timing.ts';

export interface RedisLinkOptions {
  readonly commands: CommandConnection;
  readonly listening: ListeningConnection;
  /** Name the pod's own channels and keys. */
  readonly names: BusNames;
  /**
   * Whether `subscribed` asks Redis which channels have subscribers. False where a Redis node knows only its own
   * subscribers; then all channels count as subscribed.
   */
  readonly countsSubscribers: boolean;
  /**
   * Whether Redis tells how many listeners a message has reached, so that this pod sees that it does not listen where it
   * publishes. Default: as `countsSubscribers`.
   */
  readonly countsReceivers?: boolean;
  /** How much is kept of each topic that has a history. */
  readonly histories?: ReadonlyMap<string, HistorySettings>;
  /** The paces of the bus's other links. Default: there are none. */
  readonly paces?: Set<ListenerPace>;
  /** Reserves bytes for messages that are read from histories after a lost connection. Default: 64 MiB. */
  readonly missedRoom?: ByteSource | undefined;
  /** What this process consumes. Default: nothing. */
  readonly consumption?: () => Consumption | undefined;
  readonly metrics: LinkMetrics;
  readonly log: Log;
  readonly clock?: Clock;
  readonly timing?: BusTiming;
}
