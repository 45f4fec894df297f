import type { ConnectionListener } from '../../../src/bus/redis/connection.ts';
import type { Owner, Timer } from '../time/virtual-time.ts';
import type { Network } from './network.ts';
import type { SimulatedRedis } from './server.ts';
import { Socket } from './socket.ts';

/** The wait before a connection is made again, which grows each time, as in src/bus/redis/ioredis.ts. */
const RETRY_MS = { step: 50, most: 400 };

/** A connection that gets no bytes in its handshake for this time is made again, as in src/bus/redis/ioredis.ts. */
const STALLED_MS = 2_000;

/** The common part of a pod's two connections: connecting, losing the connection, and connecting again. */
export abstract class SimulatedConnection {
  protected readonly network: Network;
  protected readonly pod: Owner;
  protected socket: Socket | undefined;
  protected ready = false;
  #listener: ConnectionListener | undefined;
  #retry: Timer | undefined;
  #attempts = 0;

  constructor(network: Network, pod: Owner) {
    this.network = network;
    this.pod = pod;
  }

  /** The present connection, on which faults act. */
  get present(): Socket | undefined {
    return this.socket;
  }

  start(listener: ConnectionListener): void {
    this.#listener = listener;
    this.#connect();
  }

  stop(): void {
    this.#listener = undefined;
    if (this.#retry !== undefined) this.network.time.cancel(this.#retry);
    this.#lose();
  }

  reconnect(): void {
    if (this.#listener === undefined) return;
    this.#lose();
    this.#connectLater();
  }

  /** Bytes that have come over the present connection. */
  abstract get bytesRead(): number;

  /** Called when the server has accepted the connection: handshakes begin. */
  protected abstract opened(socket: Socket): void;

  /** Called when the connection is lost, with all that was under way. */
  protected abstract lost(): void;

  /** Called at the server when a connection has ended. */
  protected abstract endedAtServer(server: SimulatedRedis, socket: Socket): void;

  /** To be called when the handshake is over. */
  protected becomeReady(): void {
    this.ready = true;
    this.#attempts = 0;
    this.#listener?.onReady();
  }

  #connect(): void {
    const socket: Socket = new Socket(this.network, this.pod, {
      onOpen: () => {
        this.opened(socket);
        this.#expectProgress(socket, -1);
      },
      onClose: () => {
        if (this.socket !== socket) return;
        this.#lose();
        this.#connectLater();
      },
      onServerClose: (server) => this.endedAtServer(server, socket),
    });
    this.socket = socket;
  }

  #expectProgress(socket: Socket, before: number): void {
    this.network.time.after(STALLED_MS, this.pod, () => {
      if (this.socket !== socket || this.ready) return;
      const { bytesRead } = this;
      if (bytesRead === before) this.reconnect();
      else this.#expectProgress(socket, bytesRead);
    });
  }

  #connectLater(): void {
    if (this.#listener === undefined) return;
    this.#attempts += 1;
    const { time, random } = this.network;
    if (this.#retry !== undefined) time.cancel(this.#retry);
    const delay = Math.min(this.#attempts * RETRY_MS.step, RETRY_MS.most) * (0.5 + random.next() / 2);
    this.#retry = time.after(delay, this.pod, () => this.#connect());
  }

  #lose(): void {
    const { socket, ready } = this;
    this.socket = undefined;
    this.ready = false;
    socket?.close();
    if (ready) this.#listener?.onLost();
    this.lost();
  }
}
