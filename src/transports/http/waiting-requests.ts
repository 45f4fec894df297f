import type { Metrics } from '../../metrics.ts';
import { beyondShareText, ClientShares } from '../../support/client-shares.ts';
import { podFull, tooMany, type Refusal } from './refusals.ts';

interface WaitingRequestsOptions {
  /** Most waiting requests of all connections together. */
  readonly most: number;
  readonly mostOfConnection: number;
  readonly metrics: Pick<Metrics, 'refused'>;
}

/** A connection may have more than one request only if it has fewer than one SHARES-th of the places left. */
const SHARES = 10;

/**
 * Limits the requests that have come and are not executed yet: their clients are being identified, or they wait for room
 * for their bodies, or for their turn. When few places are left, each connection may have fewer, so that some are left for
 * connections with a first request.
 */
export class WaitingRequests {
  readonly #options: WaitingRequestsOptions;
  /** By connection; only connections with waiting requests. */
  readonly #counts = new Map<object, number>();
  readonly #shares = new ClientShares();
  #size = 0;

  constructor(options: WaitingRequestsOptions) {
    this.#options = options;
  }

  /**
   * @param address of the client; undefined if it is not known
   * @returns why a request may not wait; undefined: it does, until `leave` is called
   */
  enter(connection: object, address?: string): Refusal | undefined {
    const { most, mostOfConnection, metrics } = this.#options;
    const count = this.#counts.get(connection) ?? 0;
    if (count >= mostOfConnection) {
      metrics.refused('requests_of_connection');
      return tooMany(mostOfConnection);
    }
    const left = most - this.#size;
    if (left === 0 || (count > 0 && count >= left / SHARES)) {
      metrics.refused('requests');
      return podFull(`expected at most ${most} requests to this process that wait, got one more`);
    }
    if (this.#shares.roomOf(address, left) < 1) {
      metrics.refused('share_of_client');
      return podFull(beyondShareText('requests that wait'));
    }
    this.#counts.set(connection, count + 1);
    this.#shares.count(address, 1);
    this.#size += 1;
    return undefined;
  }

  leave(connection: object, address?: string): void {
    const count = (this.#counts.get(connection) ?? 0) - 1;
    if (count > 0) this.#counts.set(connection, count);
    else this.#counts.delete(connection);
    this.#shares.count(address, -1);
    this.#size -= 1;
  }
}
