import type { Duplex } from 'node:stream';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, type WebSocket as ProtocolSocket } from '#graphql-ws';
import type { GraphQLSchema } from 'graphql';
import type { RawData, WebSocket } from 'ws';
import { SendQueue, type SendQueueOwner } from '../delivery/send-queue.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { ClientAddress, ClientConnection } from '../connections/client-connection.ts';
import { cutOff } from '../connections/cut-off.ts';
import { DISCONNECTS, protocolLabel, type Disconnect } from '../connections/disconnect.ts';
import { OpenOperations, type OperationsOwner } from './open-operations.ts';
import { RawSocket } from './raw-socket.ts';
import { withQueryText } from './subscribe-message.ts';
import type { TurnTaker } from '../../support/turns.ts';
import { admit } from './admit.ts';
import { failureOf, inflated, type ClientMessage } from './client-message.ts';
import type { Subprotocol } from './subprotocol.ts';
import { subprotocolOf } from './subprotocols.ts';
import type { ConnectionServices } from './connection-services.ts';
import type { ClientSubscription } from '../delivery/client-subscription.ts';
import type { WebSocketSubscriptionOwner } from './subscription.ts';
import type { ViewerTally } from '../connections/viewers.ts';

type MessageHandler = Parameters<ProtocolSocket['onMessage']>[0];

/**
 * One WebSocket: the socket over which graphql-ws speaks the protocol, and the send queue for the hub's results. Messages
 * of graphql-ws (`complete`, `error`, `pong`) are sent after the queued results.
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
  readonly id: string;
  readonly transport: string;
  readonly openedAt: number;
  /** See `ConnectionMaxAge`. */
  readonly endsAt: number;
  spentUntil = 0;
  readonly #socket: RawSocket;
  readonly #subprotocol: Subprotocol;
  readonly #services: ConnectionServices<Connection>;
  readonly #closed: (code: number, reason: string) => Promise<void>;
  #handle: MessageHandler | undefined;
  /** Kept until the client is authenticated. */
  #request: RequestHead | undefined;
  #viewer: Json = null;
  channels = 0;
  variables = 0;
  readonly commonShare: ClientAddress | undefined;
  #alive = true; // A pong has come since the last ping.

  constructor(
    webSocket: WebSocket,
    stream: Duplex,
    request: RequestHead,
    services: ConnectionServices<Connection>,
    address: ClientAddress | undefined,
  ) {
    const { connections } = services;
    this.id = connections.nextId();
    this.transport = webSocket.protocol;
    this.openedAt = connections.second;
    this.endsAt = connections.endsAt();
    this.#request = request;
    this.commonShare = address;
    this.#subprotocol = subprotocolOf(webSocket.protocol);
    const { format } = this.#subprotocol;
    this.#socket = new RawSocket(webSocket, stream, format, services.compressed.get(format));
    this.#services = services;
    this.openOperations = new OpenOperations(this, connections.pod);
    this.sendQueue = new SendQueue(this.#socket, this, services.flusher, services.bufferBytes);
    this.#closed = services.protocol.opened(this, this);
    services.initDeadlines.begin(this);
    connections.add(this);
    connections.handshakes.add(this);
  }

  /** The protocol for graphql-ws, which closes the connection if it is empty: the client offered no supported one. */
  get protocol(): string {
    return this.#socket.webSocket.protocol === '' ? '' : GRAPHQL_TRANSPORT_WS_PROTOCOL;
  }

  get open(): boolean {
    return this.#socket.open;
  }

  get schema(): GraphQLSchema {
    return this.#services.schema;
  }

  get viewerTally(): ViewerTally | undefined {
    return this.openOperations.viewer;
  }

  get client(): string | undefined {
    return this.viewerTally?.key ?? this.commonShare?.address;
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
    this.#services.initDeadlines.end(this);
    return admit(this, connectionParams, request, this.#services);
  }

  countAs(tally: ViewerTally | undefined): void {
    this.openOperations.viewer = tally;
  }

  become(viewer: Json): void {
    this.#viewer = viewer;
  }

  tokenExpires(expiresAt: number): void {
    this.send(JSON.stringify({ type: 'ping', payload: { auth: { expiresAt } } }));
  }

  /** A `ping` of the protocol. graphql-ws would answer with the same payload, and a token may be in it. */
  onPing(payload?: Readonly<Record<string, unknown>>): void {
    const { sessions } = this.#services.connections;
    const answer = sessions === undefined ? payload : sessions.receive(this, payload);
    this.send(JSON.stringify({ type: 'pong', payload: answer }));
  }

  onPong(payload?: Readonly<Record<string, unknown>>): void {
    this.#services.connections.sessions?.receive(this, payload);
  }

  onMessage(handler: MessageHandler): void {
    this.#handle = handler;
  }

  /** Sends a message of graphql-ws, after the results that the hub has delivered. */
  send(text: string): void {
    for (const sent of this.#subprotocol.sent(text)) this.sendQueue.send(sent);
    for (const message of this.#subprotocol.released()) this.#take(message);
  }

  /** Closes for graphql-ws, which knows codes only. */
  close(code: number, reason: string): void {
    this.end({ code, reason, label: protocolLabel(code) });
  }

  end({ code, reason, label }: Pick<Disconnect, 'code' | 'reason' | 'label'>): void {
    if (!this.#socket.open) return;
    this.sendQueue.finish();
    for (const text of this.#subprotocol.closing({ reason })) this.#socket.send(text);
    // Reads the socket again: otherwise the client's answer to the close frame would not be seen.
    this.#services.rate.forget(this);
    this.#services.connections.closes({ code, label });
    this.#socket.webSocket.close(code, reason);
    // Does not wait for the client, which may not answer. Not in this call: the hub may be delivering to a group.
    setImmediate(() => this.#endOperations(code, reason));
  }

  /** ws refuses what has come, and reads no more. It does not read a message that is too large, so the id is unknown. */
  endRefused(refused: Disconnect): void {
    const { maxPayloadBytes } = this.#services;
    const reason =
      refused === DISCONNECTS.tooLarge
        ? `Expected a message of at most ${maxPayloadBytes} bytes (MAX_PAYLOAD_BYTES)`
        : refused.reason;
    this.end({ ...refused, reason });
  }

  overflow(): void {
    cutOff(this, DISCONNECTS.tooSlow);
  }

  /** The pod needs the memory of the results that wait for this client. */
  shed(): void {
    this.sendQueue.drop();
    cutOff(this, DISCONNECTS.pressure);
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
    this.#services.subscriptions.leave(subscription, this);
    this.#services.connections.left(this, subscription);
    this.sendQueue.flush();
  }

  reconnect(): void {
    this.#services.connections.reconnect(this);
  }

  get operations(): number {
    return this.openOperations.size;
  }

  /** Pings the client, or terminates the connection if the last ping was not answered. */
  checkHeartbeat(): void {
    if (!this.#alive) {
      // While the socket is not read, the pong waits behind the client's messages.
      if (this.#services.rate.holds(this)) this.overrun();
      else this.terminate();
      return;
    }
    this.#alive = false;
    if (!this.#socket.open) return;
    this.#socket.webSocket.ping();
    if (this.#subprotocol.heartbeat !== undefined) this.sendQueue.send(this.#subprotocol.heartbeat);
  }

  /** Answers a ping frame. ws could do it, but with a function for each socket. (`onPing` is called by graphql-ws.) */
  onPingFrame(data: Buffer): void {
    if (!this.#socket.takesFrame()) return;
    this.#services.rate.message(this, () => {
      if (this.sendQueue.isTooMuch(data.length)) this.overflow();
      else this.#socket.webSocket.pong(data);
      return 'ping';
    });
  }

  /** A pong that answers no ping counts as a message, though it gets no answer. */
  onPongFrame(): void {
    if (this.#socket.takesFrame() && this.#alive) this.#services.rate.message(this, () => 'pong');
    this.#alive = true;
  }

  /** Bytes have come, and ws has taken them. */
  onRead(): void {
    this.#services.unfinished.note(this, this.#socket.unfinishedBytes);
  }

  receive(data: RawData, isBinary: boolean): void {
    const isCompressed = this.#socket.tookCompressed();
    if (!this.#socket.takesFrame()) return;
    this.#services.rate.message(this, () => this.#handleMessage(data, isBinary, isCompressed));
  }

  /** Stops reading, as messages wait for their turn. */
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
  #handleMessage(data: RawData, isBinary: boolean, isCompressed: boolean): string {
    const text = isCompressed ? inflated(data, this.#services.maxPayloadBytes) : data;
    if ('reason' in text) {
      this.endRefused(text);
      return '';
    }
    const messages = this.#subprotocol.received(text, isBinary || this.#socket.leavesTexts);
    if (!('length' in messages)) {
      this.end(messages);
      return '';
    }
    for (const message of messages) this.#take(message);
    return messages.at(-1)?.type ?? '';
  }

  #take(message: ClientMessage): void {
    if (this.open && !this.openOperations.receive(message)) this.end(DISCONNECTS.idInUse);
  }

  handOver(message: ClientMessage): Promise<void> | undefined {
    // graphql-ws takes parsed messages too, though its types do not say so.
    return this.#handle?.(withQueryText(message) as string);
  }

  inTurn(job: () => void): void {
    void this.#services.rate.inTurn(this, job);
  }

  onClose(code: number, reason: string): void {
    const { connections, rate, initDeadlines, unfinished } = this.#services;
    unfinished.forget(this);
    connections.forget(this);
    rate.forget(this);
    initDeadlines.end(this);
    this.#endOperations(code, reason);
    if (this.openOperations.viewer !== undefined) connections.viewers.leave(this.openOperations.viewer);
  }

  #endOperations(code: number, reason: string): void {
    this.openOperations.end();
    this.#closed(code, reason).catch((error: unknown) => this.failed(error));
  }

  /** @param id of the operation that has failed, for example because its result is not JSON: the other operations go on */
  failed(error: unknown, id?: string, isOver = false): void {
    const failed = id === undefined ? 'a connection failed' : 'an operation failed';
    this.#services.log.error({ err: error }, failed);
    if (id === undefined) this.end(DISCONNECTS.failed);
    else if (!isOver && this.open) this.send(failureOf(id));
  }
}
