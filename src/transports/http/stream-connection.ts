import type { GraphQLError } from 'graphql';
import type { Operation } from '../../executor/operation.ts';
import type { Json } from '../../lazy/reads.ts';
import type { ClientConnection } from '../connections/client-connection.ts';
import type { Connections } from '../connections/connections.ts';
import { cutOff } from '../connections/cut-off.ts';
import { DISCONNECTS, type Disconnect } from '../connections/disconnect.ts';
import type { Subscriptions } from '../connections/subscriptions.ts';
import type { ViewerTally } from '../connections/viewers.ts';
import { ClientSubscription, type SubscribeExtensions } from '../delivery/client-subscription.ts';
import { SendQueue, type SendQueueOwner, type SendQueueServices } from '../delivery/send-queue.ts';
import type { ResponseSink } from './response-sink.ts';
import type { StreamWire } from './stream-wire.ts';

/** What all stream connections have in common. */
export interface StreamServices {
  readonly connections: Connections;
  readonly flusher: SendQueueServices;
  readonly bufferBytes: number;
  readonly subscriptions: Subscriptions;
}

/** The only subscription of a response. */
export class StreamSubscription extends ClientSubscription<StreamConnection> {
  constructor(operation: Operation, extensions: SubscribeExtensions, owner: StreamConnection) {
    super('', operation, extensions, owner);
  }

  protected tellEnd(errors: readonly GraphQLError[]): void {
    this.owner.completed(errors);
  }
}

/** The response to one request. Its body has the results of one subscription. */
export class StreamConnection implements ClientConnection, SendQueueOwner {
  readonly sendQueue: SendQueue;
  readonly id: string;
  readonly transport: string;
  readonly openedAt: number;
  readonly endsAt: number;
  readonly operations = 1;
  readonly viewerTally: ViewerTally | undefined;
  readonly client: string | undefined;
  channels = 0;
  variables = 0;
  readonly #sink: ResponseSink;
  readonly #wire: StreamWire;
  readonly #services: StreamServices;
  #viewer: Json;
  #subscription: ClientSubscription | undefined;

  /**
   * @param tally counts this connection already; undefined if nothing identifies the viewer
   * @param address of the client; undefined if it is not known
   */
  constructor(
    sink: ResponseSink,
    wire: StreamWire,
    viewer: Json,
    tally: ViewerTally | undefined,
    services: StreamServices,
    address?: string,
  ) {
    const { connections, flusher, bufferBytes } = services;
    this.#sink = sink;
    this.#wire = wire;
    this.#services = services;
    this.#viewer = viewer;
    this.viewerTally = tally;
    this.client = tally?.key ?? address;
    this.id = connections.nextId();
    this.transport = wire.name;
    this.openedAt = connections.second;
    this.endsAt = connections.endsAt();
    this.sendQueue = new SendQueue(sink, this, flusher, bufferBytes);
    this.#count(1);
    connections.add(this);
    this.#sink.send(wire.opening());
  }

  get open(): boolean {
    return this.#sink.open;
  }

  get viewer(): Json {
    return this.#viewer;
  }

  become(viewer: Json): void {
    this.#viewer = viewer;
  }

  /** Does nothing: the client can't send another token on this connection. It reconnects after the close. */
  tokenExpires(): void {}

  joined(subscription: ClientSubscription): void {
    this.#subscription = subscription;
    this.#services.connections.joined(this, subscription);
  }

  left(subscription: ClientSubscription): void {
    this.#services.subscriptions.leave(subscription, this);
    this.#services.connections.left(this, subscription);
    this.#subscription = undefined;
  }

  reconnect(): void {
    this.#services.connections.reconnect(this);
  }

  /** The operation is over: the end is sent after everything that was delivered. */
  completed(errors: readonly GraphQLError[]): void {
    if (!this.open) return;
    this.sendQueue.finish();
    const told = errors.length === 0 ? '' : this.#wire.result(JSON.stringify({ errors }));
    this.#sink.end(told + this.#wire.completed);
  }

  end(disconnect: Disconnect): void {
    if (!this.open) return;
    this.sendQueue.finish();
    this.#services.connections.closes(disconnect);
    this.#sink.endConnection(this.#wire.closing(disconnect));
    // Not on close, as the client may never read. Not in this call: the hub may be delivering to a group.
    setImmediate(() => this.#subscription?.end([]));
  }

  overflow(): void {
    cutOff(this, DISCONNECTS.tooSlow);
  }

  shed(): void {
    this.sendQueue.drop();
    cutOff(this, DISCONNECTS.pressure);
  }

  terminate(): void {
    this.#sink.destroy();
  }

  /** Sending shows whether the client has gone: TCP gives up after a while. */
  checkHeartbeat(): void {
    if (this.open && this.sendQueue.waitingBytes === 0) this.sendQueue.send(this.#wire.heartbeat);
  }

  /** The response has been sent, or its client has gone. */
  onClose(): void {
    const { connections } = this.#services;
    // First, so that the subscription finds the connection closed.
    this.#sink.close();
    this.#subscription?.end([]);
    connections.forget(this);
    this.#count(-1);
    if (this.viewerTally !== undefined) connections.viewers.leave(this.viewerTally);
  }

  #count(operations: number): void {
    this.#services.connections.pod.count(operations, this.client);
    if (this.viewerTally !== undefined) this.viewerTally.operations += operations;
  }
}
