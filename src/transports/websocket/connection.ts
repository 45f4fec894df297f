import type { Duplex } from 'node:stream';
import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import type { GraphQLSchema } from 'graphql';
import type { RawData, WebSocket } from 'ws';
import { SendQueue, type SendQueueOwner } from '../delivery/send-queue.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { ClientConnection } from '../connections/client-connection.ts';
import { DISCONNECTS, protocolLabel, type Disconnect } from '../connections/disconnect.ts';
import { OpenOperations, type OperationsOwner } from './open-operations.ts';
import { RawSocket } from './raw-socket.ts';
import { withQueryText } from './subscribe-message.ts';
import type { TurnTaker } from '../../support/turns.ts';
import { parseClientMessage, type ClientMessage } from './client-message.ts';
import type { ConnectionServices } from './connection-services.ts';
import type { ClientSubscription } from '../delivery/client-subscription.ts';
import type { WebSocketSubscriptionOwner } from './subscription.ts';
import type { Tally } from '../connections/viewers.ts';

type MessageHandler = Parameters<ProtocolSocket['onMessage']>[0];

type Payload = Readonly<Record<string, unknown>> | undefined;

const INTERNAL_ERROR = [{ message: 'Internal server error' }];

/** How long a client that is closed for slowness has to answer the close frame. */
const TERMINATE_AFTER_MS = 1_000;

/**
 * One WebSocket: the socket that graphql-ws speaks the protocol over, and the send queue that the hub's results go into.
 * Messages of graphql-ws (`complete`, `error`, `pong`) are sent behind them.
 */
export class Connection
  implements
    ProtocolSocket,
    SendQueueOwner,
    WebSocketSubscriptionOwner,
    OperationsOwner,
    TurnTaker,
    ClientConnection
{
  readonly sendQueue: SendQueue;
  readonly openOperations: OpenOperations;
  /** See `ConnectionMaxAge`. */
  readonly endsAt: number;
  spentUntil = 0;
  readonly #socket: RawSocket;
  readonly #services: ConnectionServices<Connection>;
  readonly #closed: (code: number, reason: string) => Promise<void>;
  #handle: MessageHandler | undefined;
  /** Kept until the client is authenticated. */
  #request: RequestHead | undefined;
  #viewer: Json = null;
  /** Of all subscriptions; see `CappedConnection`. */
  channels = 0;
  variables = 0;
  /** Whether a pong has come since the last ping. */
  #alive = true;

  constructor(
    webSocket: WebSocket,
    stream: Duplex,
    request: RequestHead,
    services: ConnectionServices<Connection>,
  ) {
    const { connections } = services;
    this.endsAt = connections.endsAt();
    this.#request = request;
    this.#socket = new RawSocket(webSocket, stream);
    this.#services = services;
    this.openOperations = new OpenOperations(this, connections.pod);
    this.sendQueue = new SendQueue(this.#socket, this, services.flusher, services.bufferBytes);
    this.#closed = services.protocol.opened(this, this);
    services.initDeadlines.begin(this);
    connections.add(this);
    connections.handshakes.add(this);
  }

  get protocol(): string {
    return this.#socket.webSocket.protocol;
  }

  get open(): boolean {
    return this.#socket.open;
  }

  get schema(): GraphQLSchema {
    return this.#services.schema;
  }

  get viewerTally(): Tally | undefined {
    return this.openOperations.viewer;
  }

  /** Null until `authenticate` has let the client in. */
  get viewer(): Json {
    return this.#viewer;
  }

  /**
   * @param connectionParams payload of `connection_init`
   * @returns false if the client is refused
   */
  async authenticate(connectionParams: Readonly<Record<string, unknown>>): Promise<boolean> {
    const request = this.#request;
    if (request === undefined) return false;
    this.#request = undefined;
    const { initDeadlines, authenticator, connections } = this.#services;
    const { sessions, handshakes } = connections;
    initDeadlines.end(this);
    if (sessions === undefined) this.#viewer = await authenticator.viewerOf(connectionParams, request);
    const isAdmitted =
      sessions === undefined ? this.#viewer !== null : await sessions.admit(this, connectionParams, request);
    handshakes.delete(this);
    return isAdmitted && this.#enter();
  }

  /** @returns false if the viewer has as many connections as it may */
  #enter(): boolean {
    const { connections, metrics } = this.#services;
    // It may have closed meanwhile, and would be counted for ever.
    const tally = this.open ? connections.viewers.enter(this.#viewer) : undefined;
    if (tally === false) {
      metrics.refused('connections_of_viewer');
      this.end(DISCONNECTS.viewerConnections);
      return false;
    }
    this.openOperations.viewer = tally;
    return true;
  }

  become(viewer: Json): void {
    this.#viewer = viewer;
  }

  /** A `ping` of the protocol. graphql-ws would answer with the same payload, and a token may be in it. */
  onPing(payload: Payload): void {
    const { sessions } = this.#services.connections;
    const answer = sessions === undefined ? payload : sessions.receive(this, payload);
    this.send(JSON.stringify({ type: 'pong', payload: answer }));
  }

  onPong(payload: Payload): void {
    this.#services.connections.sessions?.receive(this, payload);
  }

  onMessage(handler: MessageHandler): void {
    this.#handle = handler;
  }

  /** Sends a message of graphql-ws, behind the results that the hub has delivered. */
  send(text: string): void {
    this.sendQueue.send(text);
  }

  /** Closes for graphql-ws, which knows codes only. */
  close(code: number, reason: string): void {
    this.#close(code, reason, protocolLabel(code));
  }

  end({ code, reason, label }: Disconnect): void {
    this.#close(code, reason, label);
  }

  overflow(): void {
    this.#cutOff(DISCONNECTS.tooSlow);
  }

  /** The pod needs the memory of what waits for this client. */
  shed(): void {
    this.sendQueue.drop();
    this.#cutOff(DISCONNECTS.pressure);
  }

  #cutOff(disconnect: Disconnect): void {
    if (!this.#socket.open) return;
    this.end(disconnect);
    setTimeout(() => this.terminate(), TERMINATE_AFTER_MS).unref();
  }

  terminate(): void {
    this.#socket.webSocket.terminate();
  }

  /** A subscription has joined a group of the hub. */
  joined(subscription: ClientSubscription): void {
    this.#services.connections.joined(this, subscription);
  }

  /** A subscription has ended: it leaves the hub, and its results are written before any message that follows. */
  left(subscription: ClientSubscription): void {
    this.#services.leave(subscription, this);
    this.#services.connections.left(this, subscription);
    this.sendQueue.flush();
  }

  reconnect(): void {
    this.#services.connections.reconnect(this);
  }

  /** Operations that have not ended, queries included. */
  get operations(): number {
    return this.openOperations.size;
  }

  /** Pings the client, or terminates the connection if the last ping was not answered. */
  checkHeartbeat(): void {
    if (!this.#alive) {
      // The pong of a socket that is not read is behind what it has sent.
      if (this.#services.rate.holds(this)) this.overrun();
      else this.terminate();
      return;
    }
    this.#alive = false;
    if (this.#socket.open) this.#socket.webSocket.ping();
  }

  /** Answers a ping frame. ws would do it by itself, with a function for each socket. (graphql-ws calls `onPing` of its own.) */
  onPingFrame(data: Buffer): void {
    // One that is being closed must be read on: its answer to the close frame comes behind its pings.
    if (!this.#socket.open) return;
    this.#services.rate.message(this, () => {
      if (this.sendQueue.isTooMuch(data.length)) this.overflow();
      else this.#socket.webSocket.pong(data);
      return 'ping';
    });
  }

  /** One that no ping has asked for is a message like others, though nothing answers it. */
  onPongFrame(): void {
    if (this.#alive && this.#socket.open) this.#services.rate.message(this, () => 'pong');
    this.#alive = true;
  }

  receive(data: RawData, isBinary: boolean): void {
    if (this.#socket.open) this.#services.rate.message(this, () => this.#handleMessage(data, isBinary));
  }

  /** Stops reading, since messages wait for their turn. */
  hold(): void {
    this.#services.metrics.heldConnections.inc();
    this.#socket.webSocket.pause();
  }

  resume(): void {
    this.#socket.webSocket.resume();
  }

  overrun(): void {
    this.end(DISCONNECTS.tooManyMessages);
  }

  /** @returns the message's type */
  #handleMessage(data: RawData, isBinary: boolean): string {
    const message = parseClientMessage(data, isBinary);
    if (!('type' in message)) {
      this.end(message);
      return '';
    }
    if (!this.openOperations.receive(message)) this.end(DISCONNECTS.idInUse);
    return message.type;
  }

  handOver(message: ClientMessage): Promise<void> | undefined {
    // graphql-ws takes parsed messages too, though its types do not say so.
    return this.#handle?.(withQueryText(message) as string);
  }

  inTurn(job: () => void): void {
    void this.#services.rate.inTurn(this, job);
  }

  onClose(code: number, reason: string): void {
    const { connections, rate, initDeadlines } = this.#services;
    connections.forget(this);
    rate.forget(this);
    initDeadlines.end(this);
    this.openOperations.end();
    if (this.openOperations.viewer !== undefined) connections.viewers.leave(this.openOperations.viewer);
    this.#closed(code, reason).catch((error: unknown) => this.failed(error));
  }

  #close(code: number, reason: string, label: string): void {
    if (!this.#socket.open) return;
    this.sendQueue.finish();
    // A socket that is not read would not see the client's answer to the close frame.
    this.#services.rate.forget(this);
    this.#services.connections.closes({ code, label });
    this.#socket.webSocket.close(code, reason);
  }

  /** @param id of the operation that has failed, so that the others go on: its result is no JSON, say */
  failed(error: unknown, id?: string, isOver = false): void {
    const failed = id === undefined ? 'a connection failed' : 'an operation failed';
    this.#services.log.error({ err: error }, failed);
    if (id === undefined) this.end(DISCONNECTS.failed);
    else if (!isOver && this.open) this.send(JSON.stringify({ id, type: 'error', payload: INTERNAL_ERROR }));
  }
}
