import type { IncomingMessage } from 'node:http';
import type { RequestOwner } from '../transports/http/http-client.ts';
import type { ClientAddresses } from './client-address.ts';

interface RequestClientsOptions {
  readonly addresses: Pick<ClientAddresses, 'areKnown' | 'of'>;
  readonly requestsPerSecond: number;
  /** A monotonic clock, ms. */
  readonly now: () => number;
}

/** A connection or an address whose requests take turns. How many of them wait is bounded where they are counted. */
class Owner implements RequestOwner {
  readonly secondsOfRequest: number;
  spentUntil = 0;

  constructor(secondsOfRequest: number) {
    this.secondsOfRequest = secondsOfRequest;
  }

  hold(): void {}
  resume(): void {}
  overrun(): void {}
}

/**
 * All clients behind trusted proxies that do not tell whose requests they send. Together they have half of the event loop, so
 * that WebSockets have the other; any number of quick requests has room in it.
 */
class UnknownClients extends Owner {
  readonly msPerSecond = 500;
  readonly burstMs = 500;

  constructor() {
    super(0);
  }
}

/** ms from the last request of an address until it is forgotten: a request may wait for so long until it takes its turn. */
const QUIET_MS = 60_000;

/** Past so many addresses, the one whose last request is longest ago is forgotten. */
const MAX_ADDRESSES = 10_000;

/**
 * Finds out whose turns of the event loop a request takes: those of its client's address where that is known, else of its
 * connection, which in HTTP/2 is the session.
 */
export class RequestClients {
  readonly #options: RequestClientsOptions;
  /** By socket, which all requests of an HTTP/2 session share. */
  readonly #connections = new WeakMap<object, Owner>();
  /** The one with the last request is at the end. */
  readonly #addresses = new Map<string, { readonly owner: Owner; readonly usedAt: number }>();
  readonly #unknown = new UnknownClients();

  constructor(options: RequestClientsOptions) {
    this.#options = options;
  }

  ownerOf(request: IncomingMessage): RequestOwner {
    const { addresses } = this.#options;
    if (!addresses.areKnown) return this.#ofConnection(request.socket);
    const address = this.addressOf(request);
    return address === undefined ? this.#unknown : this.#ofAddress(address);
  }

  addressOf(request: IncomingMessage): string | undefined {
    return this.#options.addresses.of(request);
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#addresses.size;
  }

  #ofConnection(socket: object): Owner {
    const owner = this.#connections.get(socket) ?? this.#newOwner();
    this.#connections.set(socket, owner);
    return owner;
  }

  #ofAddress(address: string): Owner {
    const owner = this.#addresses.get(address)?.owner ?? this.#newOwner();
    const usedAt = this.#options.now();
    this.#addresses.delete(address);
    this.#addresses.set(address, { owner, usedAt });
    this.#forgetQuiet(usedAt);
    return owner;
  }

  #forgetQuiet(now: number): void {
    for (const [address, { owner, usedAt }] of this.#addresses) {
      const isQuiet = usedAt + QUIET_MS <= now && owner.spentUntil <= now;
      if (!isQuiet && this.#addresses.size <= MAX_ADDRESSES) return;
      this.#addresses.delete(address);
    }
  }

  #newOwner(): Owner {
    return new Owner(1 / this.#options.requestsPerSecond);
  }
}
