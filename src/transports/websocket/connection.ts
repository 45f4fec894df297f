import type { Duplex } from 'node:stream';
import type { Server, WebSocket as ProtocolSocket } from 'graphql-ws';
import type { GraphQLSchema } from 'graphql';
import type { RawData, WebSocket } from 'ws';
import type { Authenticator } from '../../context/authenticator.ts';
import type { Flusher } from './flusher.ts';
import { SendQueue, type SendQueueOwner } from './send-queue.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { closeLabel, DISCONNECTS, type Disconnect } from './disconnect.ts';
import type { Deadlines } from '../../support/deadlines.ts';
import { RawSocket } from './raw-socket.ts';
import { SmallSet } from '../../support/small-set.ts';
import type { SubscriptionOwner, WebSocketSubscription } from './subscription.ts';

/** What all connections of a transport have in common. */
export interface ConnectionServices {
  readonly protocol: Server<Connection>;
  readonly schema: GraphQLSchema;
  readonly authenticator: Pick<Authenticator, 'viewerOf'>;
  readonly flusher: Flusher;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly bufferBytes: number;
  /** By when a client must have sent `connection_init`. */
  readonly initDeadlines: Deadlines<Connection>;
  leave(subscription: WebSocketSubscription): void;
  forget(connection: Connection): void;
}

type MessageHandler = Parameters<ProtocolSocket['onMessage']>[0];

/** What a client may send. graphql-ws throws on the types that only a server sends. */
const CLIENT_MESSAGES: ReadonlySet<unknown> = new Set([
  'connection_init',
  'ping',
  'pong',
  'subscribe',
  'complete',
]);

/** How long a peer that is closed for slowness has to answer. */
const TERMINATE_AFTER_MS = 1_000;

/**
 * One WebSocket: the socket that graphql-ws speaks the protocol over, and the send queue that the hub's results go into.
 * What graphql-ws says (`complete`, `error`, `pong`) goes out behind them.
 */
export class Connection implements ProtocolSocket, SendQueueOwner, SubscriptionOwner {
  readonly sendQueue: SendQueue;
  /** See `Ages`. */
  readonly endsAt: number;
  readonly #socket: RawSocket;
  readonly #services: ConnectionServices;
  readonly #closed: (code: number, reason: string) => Promise<void>;
  /** Ids from `subscribe` until graphql-ws is done with them, which is later than `complete`. */
  readonly #ids = new SmallSet();
  #handle: MessageHandler | undefined;
  /** Until it is known who connects. */
  #request: RequestHead | undefined;
  #viewer: Json = null;
  #answered = true;

  constructor(
    webSocket: WebSocket,
    stream: Duplex,
    request: RequestHead,
    endsAt: number,
    services: ConnectionServices,
  ) {
    this.endsAt = endsAt;
    this.#request = request;
    this.#socket = new RawSocket(webSocket, stream);
    this.#services = services;
    this.sendQueue = new SendQueue(this.#socket, this, services.flusher, services.bufferBytes);
    this.#closed = services.protocol.opened(this, this);
    services.initDeadlines.begin(this);
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

  /** Who has connected. */
  get viewer(): Json {
    return this.#viewer;
  }

  /** @returns false if whoever connects is refused */
  async authenticate(connectionParams: Readonly<Record<string, unknown>>): Promise<boolean> {
    const request = this.#request;
    if (request === undefined) return false;
    this.#request = undefined;
    this.#services.initDeadlines.end(this);
    this.#viewer = await this.#services.authenticator.viewerOf(connectionParams, request);
    return this.#viewer !== null;
  }

  onMessage(handler: MessageHandler): void {
    this.#handle = handler;
  }

  /** What graphql-ws says stands behind what the hub has delivered. */
  send(text: string): void {
    this.sendQueue.send(text);
  }

  close(code: number, reason: string): void {
    if (!this.#socket.open) return;
    this.sendQueue.finish();
    this.#services.metrics.closes.inc({ code, reason: closeLabel(code) });
    this.#socket.webSocket.close(code, reason);
  }

  end({ code, reason }: Disconnect): void {
    this.close(code, reason);
  }

  overflow(): void {
    if (!this.#socket.open) return;
    this.end(DISCONNECTS.tooSlow);
    setTimeout(() => this.terminate(), TERMINATE_AFTER_MS).unref();
  }

  terminate(): void {
    this.#socket.webSocket.terminate();
  }

  /** A subscription has ended: it leaves the hub, and what it was sent goes out before whatever follows. */
  left(subscription: WebSocketSubscription): void {
    this.#services.leave(subscription);
    this.sendQueue.flush();
  }

  /** Operations that have begun and not ended, queries included. */
  get operations(): number {
    return this.#ids.size;
  }

  /** Pings, or ends a peer that has not answered since the last time. */
  checkHeartbeat(): void {
    if (!this.#answered) {
      this.terminate();
      return;
    }
    this.#answered = false;
    if (this.#socket.open) this.#socket.webSocket.ping();
  }

  /** Answers a ping. ws would do it by itself, with a function for each socket. */
  onPingFrame(data: Buffer): void {
    if (this.sendQueue.isTooMuch(data.length)) this.overflow();
    else if (this.#socket.open) this.#socket.webSocket.pong(data);
  }

  onPongFrame(): void {
    this.#answered = true;
  }

  receive(data: RawData, isBinary: boolean): void {
    const message = isBinary ? undefined : parseMessage(data);
    if (message === undefined || !CLIENT_MESSAGES.has(message['type'])) {
      this.end(DISCONNECTS.badMessage);
      return;
    }
    const id =
      message['type'] === 'subscribe' && typeof message['id'] === 'string' ? message['id'] : undefined;
    if (id !== undefined && this.#ids.has(id)) {
      this.end(DISCONNECTS.idInUse);
      return;
    }
    if (id !== undefined) this.#ids.add(id);
    // graphql-ws takes parsed messages too, though its types do not say so.
    // One function for either end: a subscription holds it for as long as it lives.
    const over = (error: unknown): void => {
      if (id !== undefined) this.#ids.delete(id);
      if (error !== undefined) this.#failed(error);
    };
    this.#handle?.(message as unknown as string).then(over, over);
  }

  onClose(code: number, reason: string): void {
    this.#services.forget(this);
    this.#services.initDeadlines.end(this);
    this.#closed(code, reason).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#services.log.error({ err: error }, 'a connection failed');
    this.end(DISCONNECTS.failed);
  }
}

/** @returns undefined unless it is a JSON object */
function parseMessage(data: RawData): Record<string, unknown> | undefined {
  try {
    // `ws` hands over one Buffer unless told otherwise.
    const message: unknown = JSON.parse((data as Buffer).toString());
    return typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
