import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { makeServer } from '#graphql-ws';
import { WebSocketServer } from 'ws';
import { headOf, type Authenticator } from '../../context/authenticator.ts';
import type { Metrics } from '../../metrics.ts';
import type { ByteSource } from '../../support/byte-budget.ts';
import { Deadlines } from '../../support/deadlines.ts';
import type { ClientAddress } from '../connections/client-connection.ts';
import type { Connections } from '../connections/connections.ts';
import { DISCONNECTS } from '../connections/disconnect.ts';
import type { Flusher } from '../delivery/flusher.ts';
import { Connection } from './connection.ts';
import type { ConnectionServices } from './connection-services.ts';
import { compressedFormats } from './frame.ts';
import { GatewayWebSocket, listenTo } from './listen-to.ts';
import type { MessageRate } from './message-rate.ts';
import { Operations, type OperationOptions } from './operations.ts';
import { chosenProtocol } from './subprotocols.ts';
import type { WebSocketSubscription } from './subscription.ts';
import { UnfinishedMessages } from './unfinished-messages.ts';

interface WebSocketOptions extends OperationOptions {
  /** The connections of all transports. */
  readonly connections: Connections;
  readonly rate: MessageRate;
  readonly authenticator: Pick<Authenticator, 'viewerOf'>;
  readonly flusher: Flusher;
  readonly metrics: Metrics;
  readonly maxPayloadBytes: number;
  /** Bytes of messages that have come only in part. */
  readonly messages: ByteSource;
  readonly bufferBytes: number;
  readonly initTimeoutMs: number;
  /** Results of at least so many bytes are compressed for clients that offer it; 0: none. */
  readonly compressionMinBytes: number;
}

/** Most frames of one message. GraphQL clients send one; each frame takes memory even if it has only one byte. */
const MAX_FRAGMENTS = 256;

/** Least average bytes of a message's packets: each waiting packet takes memory even if it has few bytes. */
const LEAST_CHUNK_BYTES = 64;

/** An offer of permessage-deflate that ws can take. It would refuse the connection for any other one. */
const OFFER =
  /^permessage-deflate([ \t]*;[ \t]*((client|server)_no_context_takeover|client_max_window_bits(=(8|9|1[0-5]))?|server_max_window_bits=(8|9|1[0-5])))*$/;

/** The first offer of a client that can be taken; each parameter may come once. */
function takenOffer(offers = ''): string | undefined {
  return offers
    .split(',')
    .map((offer) => offer.trim())
    .find((offer) => {
      const names = offer.split(';').map((parameter) => parameter.split('=', 1)[0]?.trim());
      return OFFER.test(offer) && new Set(names).size === names.length;
    });
}

/** ws's part of it: reading compressed messages. It compresses none itself, since that would take it several turns. */
const COMPRESSION = { serverNoContextTakeover: true, clientNoContextTakeover: true, threshold: Infinity };

/** graphql-transport-ws over `ws`. graphql-ws handles the protocol; results of subscriptions bypass it. */
export class WebSocketTransport {
  readonly #webSockets: WebSocketServer;
  readonly #services: ConnectionServices<Connection>;

  constructor(options: WebSocketOptions) {
    const { compressionMinBytes } = options;
    this.#webSockets = new WebSocketServer({
      noServer: true,
      WebSocket: GatewayWebSocket,
      clientTracking: false,
      autoPong: false,
      handleProtocols: (offered) => chosenProtocol(offered),
      maxPayload: options.maxPayloadBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: Math.ceil(options.maxPayloadBytes / LEAST_CHUNK_BYTES),
      perMessageDeflate: compressionMinBytes > 0 && COMPRESSION,
    });
    const { connections, subscriptions, flusher, metrics, log, bufferBytes, rate, initTimeoutMs } = options;
    const operations = new Operations(options);
    const protocol = makeServer<Record<string, unknown> | undefined, Connection>({
      // With its timers, each connection would hold one: here one serves all connections.
      connectionInitWaitTimeout: 0,
      // `false` closes with 4403.
      onConnect: (ctx) => {
        const { extra, connectionParams = {} } = ctx;
        // graphql-ws would keep the parameters, including a token, as long as the connection lives.
        delete (ctx as { connectionParams?: unknown }).connectionParams;
        return extra.authenticate(connectionParams);
      },
      onSubscribe: (ctx, id, payload) => operations.start(ctx.extra, id, payload),
      subscribe: (args) => args as unknown as WebSocketSubscription,
      execute: (args) => operations.execute(args),
    });
    this.#services = {
      protocol,
      get authenticator() {
        return options.authenticator;
      },
      get schema() {
        return options.schema;
      },
      flusher,
      metrics,
      log,
      bufferBytes,
      maxPayloadBytes: options.maxPayloadBytes,
      rate,
      unfinished: new UnfinishedMessages(options.messages),
      connections,
      initDeadlines: new Deadlines(initTimeoutMs, (connection) => connection.end(DISCONNECTS.noInit)),
      subscriptions,
      compressed: compressionMinBytes > 0 ? compressedFormats(compressionMinBytes) : new Map(),
    };
  }

  /**
   * Completes the handshake of an upgrade that the server has admitted.
   *
   * @param address of the client; undefined if it is not known
   */
  accept(request: IncomingMessage, stream: Duplex, head: Buffer, address?: ClientAddress): void {
    const { headers } = request;
    const offer = takenOffer(headers['sec-websocket-extensions']);
    if (offer === undefined) delete headers['sec-websocket-extensions'];
    else headers['sec-websocket-extensions'] = offer;
    this.#webSockets.handleUpgrade(request, stream, head, (webSocket) => {
      const connection = new Connection(webSocket, stream, headOf(request), this.#services, address);
      listenTo(webSocket, stream, connection);
    });
  }
}
