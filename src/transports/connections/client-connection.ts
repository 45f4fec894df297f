import type { LoopShare } from '../../support/turns.ts';
import type { ClientSubscription, SubscriptionOwner } from '../delivery/client-subscription.ts';
import type { Disconnect } from './disconnect.ts';
import type { CappedConnection } from './operation-caps.ts';
import type { SessionOwner } from './sessions.ts';
import type { ViewerTally } from './viewers.ts';

/** The address that a client connects from, and the share of the event loop that all its connections have in common. */
export interface ClientAddress extends LoopShare {
  readonly address: string;
}

/** One client's connection: a WebSocket, or the response to a request. */
export interface ClientConnection extends SubscriptionOwner, CappedConnection, SessionOwner {
  /** Unique among all connections that the process has or has had: see `Connections.nextId`. */
  readonly id: string;
  /** The protocol that its client speaks. */
  readonly transport: string;
  /** Seconds since 1970. */
  readonly openedAt: number;
  readonly viewerTally: ViewerTally | undefined;
  /** See `ConnectionMaxAge`. */
  readonly endsAt: number;
  /** Writes what is queued, tells the client why, and closes. */
  end(disconnect: Disconnect): void;
  /** Drops what is queued and closes: the pod needs the memory. */
  shed(): void;
  /** Closes without a word to the client. */
  terminate(): void;
  /** Called at intervals: keeps the connection in use for proxies, and closes it if the client has gone. */
  checkHeartbeat(): void;
  joined(subscription: ClientSubscription): void;
  left(subscription: ClientSubscription): void;
}
