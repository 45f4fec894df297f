import type { IncomingMessage } from 'node:http';
import type { RequestOwner } from '../transports/http/http-client.ts';
import type { ClientAddresses } from './client-address.ts';

interface RequestClientsOptions {
  readonly addresses: Pick<ClientAddresses, 'areKnown' | 'of'>;
  readonly requestsPerSecond: number;
  /** A monotonic clock, ms. */
  readonly now: () => number;
}

/** A connection or an address: its requests take turns. WaitingRequests limits how many of them wait. */
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
 * All clients behind trusted proxies that do not report client addresses. Together they have half of the event loop, so
 * that WebSockets have the other half; within it, the number of quick requests is not limited.
 */
class UnknownClients extends Owner {
  readonly msPerSecond = 500;
  readonly burstMs = 500;

  constructor() {
    super(0);
  }
}

/** ms after its last request until an address is forgotten: a request may wait so long for its turn. */
const QUIET_MS = 60_000;

/** Most addresses remembered; beyond it, the one with the oldest last request is forgotten. */
const MAX_ADDRESSES = 10_000;

/**
 * Finds the owner of the turns of the event loop that a request takes: its client's address if known, else its connection,
 * which in HTTP/2 is the session.
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
