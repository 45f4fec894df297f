import type { Server } from '#graphql-ws';
import type { GraphQLSchema } from 'graphql';
import type { Authenticator } from '../../context/authenticator.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Deadlines } from '../../support/deadlines.ts';
import type { ClientConnection } from '../connections/client-connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { Subscriptions } from '../connections/subscriptions.ts';
import type { Flusher } from '../delivery/flusher.ts';
import type { FrameFormat } from '../delivery/frame-format.ts';
import type { MessageRate } from './message-rate.ts';
import type { UnfinishedMessages } from './unfinished-messages.ts';

/** What all connections of the transport have in common. */
export interface ConnectionServices<Owner extends ClientConnection> {
  readonly protocol: Server<Owner>;
  readonly schema: GraphQLSchema;
  readonly authenticator: Pick<Authenticator, 'viewerOf'>;
  readonly flusher: Flusher;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly bufferBytes: number;
  readonly maxPayloadBytes: number;
  readonly rate: MessageRate;
  readonly unfinished: UnfinishedMessages;
  /** The connections of all transports. */
  readonly connections: Connections;
  /** By when a client must have sent `connection_init`. */
  readonly initDeadlines: Deadlines<Owner>;
  readonly subscriptions: Subscriptions;
  /** Formats for clients that offer compression, by the ones for those that do not; none: nothing is compressed. */
  readonly compressed: ReadonlyMap<FrameFormat, FrameFormat>;
}
