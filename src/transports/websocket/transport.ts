import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { headOf, type Authenticator } from '../../context/authenticator.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../support/clock.ts';
import { Deadlines } from '../../support/deadlines.ts';
import { Connection } from './connection.ts';
import type { ConnectionServices } from './connection-services.ts';
import { CLOSES, DISCONNECTS, type Disconnect } from './disconnect.ts';
import type { Flusher } from './flusher.ts';
import type { ConnectionMaxAge } from './max-age.ts';
import type { MessageRate } from './message-rate.ts';
import { OperationCaps, type OperationLimits } from './operation-caps.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';
import { Operations, type OperationOptions } from './operations.ts';
import { PacedClose } from './paced-close.ts';
import { listenTo } from './listen-to.ts';
import { mostWaiting } from './most-waiting.ts';
import { inspectSockets, type SocketsInspection } from './sockets-inspection.ts';
import { closeStaggered } from './staggered-close.ts';
import type { WebSocketSubscription } from './subscription.ts';
import { ThrottledSubscriptions } from './throttled-subscriptions.ts';
import { Tally, Viewers } from './viewers.ts';

interface WebSocketOptions extends OperationOptions {
  readonly rate: MessageRate;
  readonly authenticator: Pick<Authenticator, 'viewerOf'>;
  /** How the tokens of connections are looked after; undefined if clients do not connect with tokens. */
  readonly tokens?: SessionsOptions | undefined;
  readonly flusher: Flusher;
  readonly metrics: Metrics;
  readonly maxPayloadBytes: number;
  readonly bufferBytes: number;
  readonly initTimeoutMs: number;
  /** 0: never. */
  readonly pingSeconds: number;
  readonly maxAge: ConnectionMaxAge;
  readonly clock: Clock;
  /** Most connections closed for gaps in a second. */
  readonly gapClosesPerSecond: number;
  /** Of one connection, at the same time. */
  readonly maxOperations: number;
  /** Default: no further limits. */
  readonly limits?: ClientLimits;
}

/** How much clients may have open, by the settings. */
export interface ClientLimits extends Omit<OperationLimits, 'operationsOfConnection'> {
  readonly connectionsOfViewer: number;
  /** The setting `VIEWER_ID`. */
  readonly viewerId: string | undefined;
}

const NO_LIMITS: ClientLimits = {
  operationsOfViewer: Infinity,
  operationsOfPod: Infinity,
  channelsOfConnection: Infinity,
  variablesOfConnection: Infinity,
  connectionsOfViewer: Infinity,
  viewerId: undefined,
  lingerMs: 0,
};

const AGE_CHECK_MS = 1_000;
const SESSION_CHECK_MS = 500;

/** graphql-transport-ws over `ws`. graphql-ws keeps the protocol; results of subscriptions go past it. */
export class WebSocketTransport {
  readonly #options: WebSocketOptions;
  readonly #webSockets: WebSocketServer;
  readonly #services: ConnectionServices<Connection>;
  readonly #connections = new Set<Connection>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #gapCloses: PacedClose<Connection>;
  readonly #stopping = new AbortController();
  #whenEmpty: (() => void) | undefined;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#webSockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      autoPong: false,
      handleProtocols: (offered) => handleProtocols(offered),
      maxPayload: options.maxPayloadBytes,
      perMessageDeflate: false,
    });
    const pod = new Tally();
    const { limits = NO_LIMITS, maxOperations } = options;
    const caps = new OperationCaps(
      { ...limits, operationsOfConnection: maxOperations },
      pod,
      options.metrics,
    );
    const operations = new Operations(options, caps);
    const protocol = makeServer<Record<string, unknown> | undefined, Connection>({
      // Its timers would be held by each connection: there is one for all instead.
      connectionInitWaitTimeout: 0,
      // `false` closes with 4403.
      onConnect: (ctx) => {
        const { extra, connectionParams = {} } = ctx;
        // graphql-ws would keep them, a token among them, for as long as the connection lives.
        delete (ctx as { connectionParams?: unknown }).connectionParams;
        return extra.authenticate(connectionParams);
      },
      onSubscribe: (ctx, id, payload) => operations.start(ctx.extra, id, payload),
      subscribe: (args) => args as unknown as WebSocketSubscription,
      execute: (args) => operations.execute(args),
    });
    const { flusher, metrics, log, bufferBytes, rate, clock, gapClosesPerSecond } = options;
    this.#gapCloses = new PacedClose({
      close: (connection) => this.#finish(connection, DISCONNECTS.gap),
      perSecond: gapClosesPerSecond,
      clock,
    });
    // At 0 from the start, or Prometheus would see no increase at the first of its kind.
    for (const { code, label } of CLOSES) metrics.closes.inc({ code, reason: label }, 0);
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
      rate,
      sessions: options.tokens && new Sessions(options.tokens),
      initDeadlines: new Deadlines(options.initTimeoutMs, (connection) => connection.end(DISCONNECTS.noInit)),
      handshakes: new Set(),
      throttled: new ThrottledSubscriptions(),
      viewers: new Viewers(limits.viewerId, limits.connectionsOfViewer),
      pod,
      leave: (subscription, connection) => operations.leave(subscription, connection),
      reconnect: (connection) => this.#gapCloses.add(connection),
      forget: (connection) => this.#forget(connection),
    };
  }

  start(): void {
    const { pingSeconds, maxAge } = this.#options;
    if (pingSeconds > 0) {
      this.#every(pingSeconds * 1000, () => {
        for (const connection of this.#connections) connection.checkHeartbeat();
      });
    }
    const { sessions } = this.#services;
    if (sessions !== undefined) this.#every(SESSION_CHECK_MS, () => sessions.check());
    if (maxAge.limited) {
      this.#every(AGE_CHECK_MS, () => {
        for (const connection of maxAge.expired(this.#connections)) this.#restart(connection);
      });
    }
  }

  /**
   * Closes every connection, bit by bit. The server must refuse new ones before.
   *
   * @param overMs how long it takes
   */
  closeStaggered(overMs: number): Promise<void> {
    this.#gapCloses.stop();
    return closeStaggered({
      open: () => [...this.#connections].filter((connection) => connection.open),
      close: (connection) => this.#restart(connection),
      overMs,
      clock: this.#options.clock,
      signal: this.#stopping.signal,
    });
  }

  /**
   * Closes every connection, and resolves when all are closed.
   *
   * @param graceMs after which connections that have not answered the close frame are terminated
   */
  async stop(graceMs: number): Promise<void> {
    this.#timers.forEach(clearInterval);
    this.#gapCloses.stop();
    this.#stopping.abort();
    for (const connection of this.#connections) this.#finish(connection, DISCONNECTS.goingAway);
    if (this.#connections.size === 0) return;
    const terminating = setTimeout(() => {
      for (const connection of this.#connections) connection.terminate();
    }, graceMs);
    await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
    clearTimeout(terminating);
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** How many connections are not yet acknowledged. */
  get handshakes(): number {
    return this.#services.handshakes.size;
  }

  /** Completes the handshake of an upgrade that the server has admitted. */
  accept(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    this.#webSockets.handleUpgrade(request, stream, head, (webSocket) =>
      this.#opened(webSocket, stream, headOf(request)),
    );
  }

  /**
   * Closes the connections of a viewer whose access was revoked.
   *
   * @param isRevoked is given the viewer and, in seconds, when its token was issued, if that is known
   */
  revoke(isRevoked: (viewer: Json, issuedAt: number | undefined) => boolean): void {
    const { sessions } = this.#services;
    for (const connection of this.#connections) {
      const { viewer } = connection;
      if (viewer !== null && isRevoked(viewer, sessions?.issuedAt(connection)))
        connection.end(DISCONNECTS.revoked);
    }
  }

  inspect(limit: number): SocketsInspection {
    return inspectSockets(this.#connections, this.#services, limit);
  }

  /** Bytes that wait for clients to read them, copied for one socket each. */
  get copiedBytes(): number {
    let bytes = 0;
    for (const { sendQueue } of this.#connections) bytes += sendQueue.copiedBytes;
    return bytes;
  }

  /** Closes some of the connections with most bytes waiting. @returns how many */
  shed(): number {
    const shed = mostWaiting(this.#connections);
    for (const connection of shed) connection.shed();
    return shed.length;
  }

  #every(ms: number, check: () => void): void {
    this.#timers.push(setInterval(check, ms).unref());
  }

  #opened(webSocket: WebSocket, stream: Duplex, request: RequestHead): void {
    const connection = new Connection(
      webSocket,
      stream,
      request,
      this.#options.maxAge.endsAt(),
      this.#services,
    );
    this.#connections.add(connection);
    this.#options.metrics.connections.inc();
    listenTo(webSocket, connection);
  }

  /** The client connects again, to a pod that takes connections. */
  #restart(connection: Connection): void {
    this.#finish(connection, DISCONNECTS.serviceRestart);
  }

  /** Writes what is queued, and what throttles hold for it, then closes. */
  #finish(connection: Connection, disconnect: Disconnect): void {
    if (connection.open) this.#services.throttled.flush(connection);
    connection.end(disconnect);
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    this.#gapCloses.remove(connection);
    this.#options.metrics.connections.dec();
    if (this.#connections.size === 0) this.#whenEmpty?.();
  }
}
