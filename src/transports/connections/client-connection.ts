import type { ClientSubscription, SubscriptionOwner } from '../delivery/client-subscription.ts';
import type { Disconnect } from './disconnect.ts';
import type { CappedConnection } from './operation-caps.ts';
import type { SessionOwner } from './sessions.ts';

/** What one client is connected by: a WebSocket, or the response to a request. */
export interface ClientConnection extends SubscriptionOwner, CappedConnection, SessionOwner {
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
