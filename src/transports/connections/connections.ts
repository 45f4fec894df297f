import type { Json } from '../../lazy/reads.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../support/clock.ts';
import type { Table } from '../../support/table.ts';
import type { ClientSubscription } from '../delivery/client-subscription.ts';
import { ThrottledSubscriptions } from '../delivery/throttled-subscriptions.ts';
import type { ClientConnection } from './client-connection.ts';
import { CLOSES, DISCONNECTS, type Disconnect } from './disconnect.ts';
import { Heartbeats } from './heartbeats.ts';
import type { ConnectionMaxAge } from './max-age.ts';
import { mostWaiting } from './most-waiting.ts';
import { PacedClose } from './paced-close.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';
import { connectionTable } from './connection-table.ts';
import { inspectSockets, type SocketsInspection } from './sockets-inspection.ts';
import { closeStaggered } from './staggered-close.ts';
import { PodTally, Viewers } from './viewers.ts';

export interface ConnectionsOptions {
  /** Options for watching the tokens of connections; undefined if clients do not connect with tokens. */
  readonly tokens?: SessionsOptions | undefined;
  readonly metrics: Metrics;
  /** 0: never. */
  readonly pingSeconds: number;
  readonly maxAge: ConnectionMaxAge;
  readonly clock: Clock;
  /** Most connections closed for gaps in a second. */
  readonly gapClosesPerSecond: number;
  /** The setting `VIEWER_ID`; undefined: no viewer is known. */
  readonly viewerId?: string | undefined;
  /** Default: no limit. */
  readonly connectionsOfViewer?: number;
}

const AGE_CHECK_MS = 1_000;
const SESSION_CHECK_MS = 500;

/** All clients that are connected to this process, by all transports: who they are, and when they have to close. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #connections = new Set<ClientConnection>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #heartbeats: Heartbeats;
  readonly #gapCloses: PacedClose<ClientConnection>;
  readonly #throttled = new ThrottledSubscriptions();
  readonly #stopping = new AbortController();
  #whenEmpty: (() => void) | undefined;
  /** Undefined if clients do not connect with tokens. */
  readonly sessions: Sessions<ClientConnection> | undefined;
  readonly viewers: Viewers;
  /** What all connections have open. */
  readonly pod = new PodTally();
  /** The connections that are not yet acknowledged. */
  readonly handshakes = new Set<ClientConnection>();
  /** All connections, for operators. */
  readonly table: Table<ClientConnection>;
  #made = 0;

  constructor(options: ConnectionsOptions) {
    const { clock, gapClosesPerSecond, tokens, viewerId, connectionsOfViewer = Infinity, metrics } = options;
    this.#options = options;
    this.#heartbeats = new Heartbeats(options.pingSeconds);
    this.#gapCloses = new PacedClose({
      close: (connection) => this.#finish(connection, DISCONNECTS.gap),
      perSecond: gapClosesPerSecond,
      clock,
    });
    this.sessions = tokens && new Sessions(tokens);
    this.viewers = new Viewers(viewerId, connectionsOfViewer);
    const isHandshake = (connection: ClientConnection): boolean => this.handshakes.has(connection);
    this.table = connectionTable(this.#connections, isHandshake, clock.now);
    // Starts at 0: otherwise Prometheus would see no increase at the first close of a kind.
    for (const { code, label } of CLOSES) metrics.closes.inc({ code, reason: label }, 0);
  }

  start(): void {
    const { maxAge } = this.#options;
    this.#heartbeats.start();
    const { sessions } = this;
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
   * @param overMs how long all closes take
   * @param signal stops the closes early, for a pod that goes on
   */
  closeStaggered(overMs: number, signal?: AbortSignal): Promise<void> {
    if (signal === undefined) this.#gapCloses.stop();
    return closeStaggered({
      open: () => [...this.#connections].filter((connection) => connection.open),
      close: (connection) => this.#restart(connection),
      overMs,
      clock: this.#options.clock,
      signal: AbortSignal.any([this.#stopping.signal, ...(signal ? [signal] : [])]),
    });
  }

  /**
   * Closes every connection, and resolves when all are closed.
   *
   * @param graceMs after which connections whose clients have not answered are terminated
   */
  async stop(graceMs: number): Promise<void> {
    this.#timers.forEach(clearInterval);
    this.#heartbeats.stop();
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

  get size(): number {
    return this.#connections.size;
  }

  /** For a connection that is made now: short, since operators type it. */
  nextId(): string {
    return (this.#made += 1).toString(36);
  }

  /** Since 1970: a small integer, as each connection holds one. */
  get second(): number {
    return Math.floor(this.#options.clock.now() / 1_000);
  }

  /** For a connection that is made now: `ClientConnection.endsAt`. */
  endsAt(): number {
    return this.#options.maxAge.endsAt();
  }

  /** Finds a connection by its id; undefined if it does not exist any more. Looks at all connections. */
  find(id: string): ClientConnection | undefined {
    for (const connection of this.#connections) if (connection.id === id) return connection;
    return undefined;
  }

  add(connection: ClientConnection): void {
    this.#connections.add(connection);
    this.#heartbeats.add(connection);
    this.#options.metrics.connections.inc();
  }

  /** It has closed. */
  forget(connection: ClientConnection): void {
    if (!this.#connections.delete(connection)) return;
    this.#heartbeats.remove(connection);
    this.#gapCloses.remove(connection);
    this.handshakes.delete(connection);
    this.sessions?.forget(connection);
    this.#options.metrics.connections.dec();
    if (this.#connections.size === 0) this.#whenEmpty?.();
  }

  /** A subscription has joined a group of the hub. */
  joined(connection: ClientConnection, subscription: ClientSubscription): void {
    this.sessions?.joined(connection, subscription);
    this.#throttled.add(connection, subscription);
  }

  left(connection: ClientConnection, subscription: ClientSubscription): void {
    this.sessions?.left(connection, subscription);
    this.#throttled.remove(connection, subscription);
  }

  /** Events may be missing: the client has to reconnect. Such connections close at a common pace. */
  reconnect(connection: ClientConnection): void {
    this.#gapCloses.add(connection);
  }

  /** Counts a connection that the gateway closes. */
  closes({ code, label }: Pick<Disconnect, 'code' | 'label'>): void {
    this.#options.metrics.closes.inc({ code, reason: label });
  }

  /**
   * Closes the connections of a viewer whose access was revoked.
   *
   * @param isRevoked is given the viewer and, in seconds, when its token was issued, if that is known
   */
  revoke(isRevoked: (viewer: Json, issuedAt: number | undefined) => boolean): void {
    for (const connection of this.#connections) {
      const { viewer } = connection;
      if (viewer !== null && isRevoked(viewer, this.sessions?.issuedAt(connection)))
        connection.end(DISCONNECTS.revoked);
    }
  }

  inspect(limit: number): SocketsInspection {
    return inspectSockets(this.#connections, this, limit);
  }

  /** Waiting bytes that were copied, each for one socket alone. */
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

  /** The client connects again, to a pod that takes connections. */
  #restart(connection: ClientConnection): void {
    this.#finish(connection, DISCONNECTS.serviceRestart);
  }

  /** Writes the queue, and the results of events that throttles hold for the connection, then closes. */
  #finish(connection: ClientConnection, disconnect: Disconnect): void {
    if (connection.open) this.#throttled.flush(connection);
    connection.end(disconnect);
  }
}
