import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import type { Identity } from '../../context/token-authenticator.ts';
import type { Operation } from '../../executor/operation.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Metrics } from '../../metrics.ts';
import type { SubscribeExtensions } from '../delivery/client-subscription.ts';
import { acceptsGzip } from './accepted.ts';
import { gzipFormats, type GzipFrames } from './gzip.ts';
import { ResponseSink } from './response-sink.ts';
import { StreamConnection, StreamSubscription, type StreamServices } from './stream-connection.ts';
import { streamHeaders, type StreamWire } from './stream-wire.ts';

/** A subscription requested by a client that is allowed to have it. */
export interface RequestedSubscription {
  readonly wire: StreamWire;
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: SubscribeExtensions;
  readonly identity: Identity;
  readonly request: RequestHead;
  /** The client's address; undefined if it is not known. */
  readonly address: string | undefined;
}

/** Why there is no stream; sent as a response. */
export interface StreamRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

interface StreamsOptions extends StreamServices {
  /** Results of at least so many bytes are compressed for clients that accept gzip; 0: no response is. */
  readonly compressionMinBytes: number;
  readonly metrics: Pick<Metrics, 'refused'>;
}

/** Subscriptions whose results are the body of a response: server-sent events, and multipart. */
export class Streams {
  readonly #options: StreamsOptions;
  /** By wire; none: no response is compressed. */
  readonly #gzip: ReadonlyMap<StreamWire, GzipFrames>;

  constructor(options: StreamsOptions) {
    this.#options = options;
    const { compressionMinBytes } = options;
    this.#gzip = compressionMinBytes > 0 ? gzipFormats(compressionMinBytes) : new Map();
  }

  /**
   * Responds with the results of a subscription.
   *
   * @param body what the response is written to: its socket, or in HTTP/2 its stream
   * @returns why it can't; in that case nothing has been sent
   */
  open(requested: RequestedSubscription, response: ServerResponse, body: Duplex): StreamRefusal | undefined {
    const { connections, metrics } = this.#options;
    const { wire, identity, request, address } = requested;
    const refused = connections.sessions?.refusalOf(identity);
    if (refused !== undefined) return { status: 401, code: 'UNAUTHENTICATED', message: refused.reason };
    const tally = connections.viewers.enter(identity.viewer);
    if (tally === false) {
      metrics.refused('connections_of_viewer');
      const message = 'Too many connections of this viewer: close one of them';
      return { status: 429, code: 'TOO_MANY_CONNECTIONS', message };
    }
    const gzip = acceptsGzip(request.headers['accept-encoding']) ? this.#gzip.get(wire) : undefined;
    response.writeHead(200, streamHeaders(wire, gzip !== undefined));
    response.flushHeaders();
    const sink = new ResponseSink(response, body, wire, gzip);
    const connection = new StreamConnection(sink, wire, identity.viewer, tally, this.#options, address);
    response.once('close', () => connection.onClose());
    connections.sessions?.begin(connection, identity, request);
    const errors = this.#join(requested, connection);
    if (errors !== undefined) connection.completed(errors);
    return undefined;
  }

  #join(
    { operation, variables, extensions }: RequestedSubscription,
    connection: StreamConnection,
  ): readonly GraphQLError[] | undefined {
    const { subscriptions } = this.#options;
    const refused = subscriptions.refusal(connection, '');
    if (refused !== undefined) return [refused];
    const subscription = new StreamSubscription(operation, extensions, connection);
    return subscriptions.join(subscription, operation, variables, extensions.resume, connection);
  }
}
