import type { AdmissionCheck, AdmissionFault } from './admission.ts';
import { ConnectionRate, type Paced } from './connection-rate.ts';

interface PodCapsOptions {
  /** What is open now. */
  readonly connections: { readonly size: number; readonly handshakes: { readonly size: number } };
  readonly maxConnections: number;
  readonly maxHandshakes: number;
  /** 0: no limit. */
  readonly connectionsPerSecond: number;
  /** ms, of a monotonic clock. */
  readonly now: () => number;
}

/** The caps of this process on the connections of all clients together. */
export class PodCaps implements AdmissionCheck {
  readonly #options: PodCapsOptions;
  readonly #rate: ConnectionRate;
  readonly #paced: Paced = { fullAt: 0 };

  constructor(options: PodCapsOptions) {
    this.#options = options;
    this.#rate = new ConnectionRate(options.connectionsPerSecond);
  }

  fault(): AdmissionFault | undefined {
    const { connections, maxConnections, maxHandshakes, now } = this.#options;
    if (connections.size >= maxConnections) {
      const message = `expected at most ${maxConnections} connections to this process, got one more`;
      return { reason: 'connections', message };
    }
    if (connections.handshakes.size >= maxHandshakes) {
      const message = `expected at most ${maxHandshakes} connections to this process that are not yet acknowledged, got one more`;
      return { reason: 'handshakes', message };
    }
    if (!this.#rate.admits(this.#paced, now())) {
      const message = `expected at most ${this.#rate.perSecond} new connections a second to this process, got more`;
      return { reason: 'connection_rate', message };
    }
    return undefined;
  }

  admitted(): void {
    this.#rate.spend(this.#paced, this.#options.now());
  }
}
