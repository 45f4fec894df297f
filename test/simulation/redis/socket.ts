import type { Owner, Timer } from '../time/virtual-time.ts';
import type { Network, Route } from './network.ts';
import type { SimulatedRedis } from './server.ts';

/** How long a connect may take: as src/bus/redis/ioredis.ts has it. */
const CONNECT_TIMEOUT_MS = 1_000;

/** A machine that is gone is noticed within this time, though nothing is sent. */
const KEEPALIVE_MS = 20_000;

/** What one end of a connection is told. */
interface Ends {
  /** The connection is made; the server is there. */
  onOpen(): void;
  /** It could not be made, or has ended, other than by `close`. */
  onClose(): void;
  /** The server's end has ended. */
  onServerClose(server: SimulatedRedis): void;
}

/**
 * One TCP connection between a pod and a server. Each direction keeps its order. A half-open one takes bytes, and they
 * never arrive.
 */
export class Socket {
  readonly pod: Owner;
  readonly server: SimulatedRedis;
  /** Bytes that the server has sent and the pod has not read. */
  unreadBytes = 0;
  /** Nothing that is sent now arrives in this direction, and neither end is told. */
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
  /** Which start of the server has accepted it: after the next one it is unknown there. */
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

  /** Runs at the server once the bytes have come there, unless they get lost. */
  toServer(run: () => void): void {
    if (!this.#clientOpen || this.#deafToServer) return;
    this.#atServer(() => {
      if (!this.#serverOpen || !this.server.alive) return;
      if (this.server.starts === this.#start) run();
      else this.closeByServer();
    });
  }

  /** Runs at the pod once the bytes have come there, unless they get lost. */
  toPod(run: () => void): void {
    if (this.#deafToPod) return;
    this.#atPod(() => {
      if (this.#clientOpen) run();
    });
  }

  /** The pod closes it. What it has sent before still arrives. */
  close(): void {
    if (!this.#clientOpen) return;
    this.#clientOpen = false;
    this.#network.time.cancel(this.#connecting);
    if (!this.#deafToServer) this.#atServer(() => this.#endServer());
  }

  /** The server closes it; what it has sent before still arrives. */
  closeByServer(): void {
    if (!this.#serverOpen) return;
    this.#serverOpen = false;
    this.server.accepted.delete(this.#onCrash);
    if (!this.#deafToPod) this.#atPod(() => this.#fail());
  }

  /** It breaks in between: what is under way is lost, and both ends are told. */
  break(): void {
    this.#deafToPod = true;
    this.#deafToServer = true;
    this.#network.time.after(this.#latency, this.pod, () => this.#fail());
    this.#network.time.after(this.#latency, undefined, () => this.#endServer());
  }

  /** What is sent from now on never arrives, and neither end is told: the connection is half open. */
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
      // A machine that is gone says nothing: the pod waits for its own timeout.
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

  /** The server's process has ended; with its machine, only TCP's keepalive tells. */
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
