import type { Owner, Timer } from '../time/virtual-time.ts';
import type { Network, Route } from './network.ts';
import type { SimulatedRedis } from './server.ts';

/** The limit of a connect, as in src/bus/redis/ioredis.ts. */
const CONNECT_TIMEOUT_MS = 1_000;

/** A client notices within this time that a machine is gone, even if it sends nothing. */
const KEEPALIVE_MS = 20_000;

/** Callbacks of a connection's ends. */
interface Ends {
  /** The server has accepted the connection. */
  onOpen(): void;
  /** The connection could not be made, or has ended in another way than by `close`. */
  onClose(): void;
  /** The server's end has closed. */
  onServerClose(server: SimulatedRedis): void;
}

/**
 * One TCP connection between a pod and a server. Each direction keeps its order. A half-open connection takes bytes
 * that never arrive.
 */
export class Socket {
  readonly pod: Owner;
  readonly server: SimulatedRedis;
  /** Bytes that the server has sent and the pod has not read. */
  unreadBytes = 0;
  /** Bytes sent to the pod now never arrive, and neither end is told. */
  #deafToPod = false;
  #deafToServer = false;
  readonly #network: Network;
  readonly #route: Route;
  readonly #ends: Ends;
  #clientOpen = true;
  #serverOpen = false;
  #toServerAt = 0;
  #toPodAt = 0;
  readonly #connecting: Timer;
  /** The start of the server that has accepted the connection: a later start does not know it. */
  #start: number | undefined;

  constructor(network: Network, pod: Owner, ends: Ends) {
    this.#network = network;
    this.pod = pod;
    this.#ends = ends;
    this.#route = network.route(pod);
    this.server = network.target;
    this.#connecting = network.time.after(CONNECT_TIMEOUT_MS, pod, () => this.#fail());
    this.#atServer(() => this.#accept());
  }

  get isOpen(): boolean {
    return this.#clientOpen && this.#serverOpen;
  }

  /** Runs at the server when the bytes arrive, unless they get lost. */
  toServer(run: () => void): void {
    if (!this.#clientOpen || this.#deafToServer) return;
    this.#atServer(() => {
      if (!this.#serverOpen || !this.server.alive) return;
      if (this.server.starts === this.#start) run();
      else this.closeByServer();
    });
  }

  /** Runs at the pod when the bytes arrive, unless they get lost. */
  toPod(run: () => void): void {
    if (this.#deafToPod) return;
    this.#atPod(() => {
      if (this.#clientOpen) run();
    });
  }

  /** Closes the pod's end. Bytes that it has sent before still arrive. */
  close(): void {
    if (!this.#clientOpen) return;
    this.#clientOpen = false;
    this.#network.time.cancel(this.#connecting);
    if (!this.#deafToServer) this.#atServer(() => this.#endServer());
  }

  /** Closes the server's end. Bytes that it has sent before still arrive. */
  closeByServer(): void {
    if (!this.#serverOpen) return;
    this.#serverOpen = false;
    this.server.accepted.delete(this.#onCrash);
    if (!this.#deafToPod) this.#atPod(() => this.#fail());
  }

  /** Breaks the connection: bytes under way are lost, and both ends are told. */
  break(): void {
    this.#deafToPod = true;
    this.#deafToServer = true;
    this.#network.time.after(this.#latency, this.pod, () => this.#fail());
    this.#network.time.after(this.#latency, undefined, () => this.#endServer());
  }

  /** Makes the connection half open: bytes sent from now on never arrive, and neither end is told. */
  vanish(direction: 'to' | 'from' | 'both'): void {
    this.#deafToServer ||= direction !== 'from';
    this.#deafToPod ||= direction !== 'to';
  }

  get #latency(): number {
    return this.#network.arrival(this.#route) - this.#network.time.now;
  }

  #accept(): void {
    if (!this.#clientOpen) return;
    if (!this.server.alive) {
      // A machine that is gone does not answer: the pod waits for its own timeout.
      if (this.server.silent) return;
      this.#atPod(() => this.#fail());
      return;
    }
    this.#serverOpen = true;
    this.#start = this.server.starts;
    this.server.accepted.add(this.#onCrash);
    this.toPod(() => {
      this.#network.time.cancel(this.#connecting);
      this.#ends.onOpen();
    });
  }

  /** The server's process has ended. If its machine is gone, too, only TCP's keepalive tells. */
  readonly #onCrash = (silent: boolean): void => {
    if (!silent) {
      this.closeByServer();
      return;
    }
    this.#network.time.after(KEEPALIVE_MS, this.pod, () => this.#fail());
  };

  #fail(): void {
    if (!this.#clientOpen) return;
    this.#clientOpen = false;
    this.#network.time.cancel(this.#connecting);
    if (this.#serverOpen && !this.#deafToServer) this.#atServer(() => this.#endServer());
    this.#ends.onClose();
  }

  #endServer(): void {
    if (!this.#serverOpen) return;
    this.#serverOpen = false;
    this.server.accepted.delete(this.#onCrash);
    this.#ends.onServerClose(this.server);
  }

  #atServer(run: () => void): void {
    this.#toServerAt = Math.max(this.#toServerAt, this.#network.arrival(this.#route));
    this.#network.time.at(this.#toServerAt, undefined, () => this.server.whenRunning(run));
  }

  #atPod(run: () => void): void {
    this.#toPodAt = Math.max(this.#toPodAt, this.#network.arrival(this.#route));
    this.#network.time.at(this.#toPodAt, this.pod, run);
  }
}
