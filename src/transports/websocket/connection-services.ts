import type { Server } from 'graphql-ws';
import type { GraphQLSchema } from 'graphql';
import type { Authenticator } from '../../context/authenticator.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Deadlines } from '../../support/deadlines.ts';
import type { Flusher } from './flusher.ts';
import type { MessageRate } from './message-rate.ts';
import type { SessionOwner, Sessions } from './sessions.ts';
import type { WebSocketSubscription } from './subscription.ts';
import type { ThrottledSubscriptions } from './throttled-subscriptions.ts';
import type { Tally, Viewers } from './viewers.ts';

/** What all connections of a transport have in common. */
export interface ConnectionServices<Owner extends SessionOwner> {
  readonly protocol: Server<Owner>;
  readonly schema: GraphQLSchema;
  readonly authenticator: Pick<Authenticator, 'viewerOf'>;
  readonly flusher: Flusher;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly bufferBytes: number;
  readonly rate: MessageRate;
  /** Undefined if clients do not connect with tokens. */
  readonly sessions: Sessions<Owner> | undefined;
  /** By when a client must have sent `connection_init`. */
  readonly initDeadlines: Deadlines<Owner>;
  /** The connections that are not yet acknowledged. */
  readonly handshakes: Set<Owner>;
  readonly throttled: ThrottledSubscriptions;
  readonly viewers: Viewers;
  /** What all connections have open. */
  readonly pod: Tally;
  leave(subscription: WebSocketSubscription, connection: Owner): void;
  reconnect(connection: Owner): void;
  forget(connection: Owner): void;
}
