import type { IncomingMessage } from 'node:http';
import type { ClientAddress } from '../transports/connections/client-connection.ts';
import { largest } from '../support/largest.ts';
import type { AdmissionCheck, AdmissionFault, Closable } from './admission.ts';
import type { ClientAddresses } from './client-address.ts';
import { ConnectionRate, type Paced } from './connection-rate.ts';

interface AddressCapsOptions {
  readonly addresses: Pick<ClientAddresses, 'of'>;
  readonly maxConnections: number;
  /** 0: no limit. */
  readonly connectionsPerSecond: number;
  /** ms, of a monotonic clock. */
  readonly now: () => number;
}

export interface AddressesInspection {
  /** The number of addresses with connections. */
  readonly count: number;
  readonly largest: readonly { readonly address: string; readonly connections: number }[];
}

/** Shared by all WebSockets of one address: together they may take half of the event loop; the other half is for others. */
class AddressTally implements Paced, ClientAddress {
  readonly address: string;
  readonly msPerSecond = 500;
  readonly burstMs = 1_000;
  spentUntil = 0;
  readonly #caps: AddressCaps;
  connections = 0;
  fullAt = 0;

  constructor(address: string, caps: AddressCaps) {
    this.address = address;
    this.#caps = caps;
  }

  left(): void {
    this.#caps.left(this);
  }
}

/** The property of a socket that holds its tally: a separate listener for each socket would take more memory. */
const TALLY = Symbol('address tally');

interface Counted {
  [TALLY]?: AddressTally;
}

/** The caps of this process on connections of one client address, if the address is known. */
export class AddressCaps implements AdmissionCheck {
  readonly #options: AddressCapsOptions;
  readonly #rate: ConnectionRate;
  readonly #tallies = new Map<string, AddressTally>();
  /** Addresses without connections, kept until their rate no longer matters. */
  readonly #idle = new Set<AddressTally>();

  constructor(options: AddressCapsOptions) {
    this.#options = options;
    this.#rate = new ConnectionRate(options.connectionsPerSecond);
  }

  fault(request: IncomingMessage): AdmissionFault | undefined {
    const { addresses, maxConnections, now } = this.#options;
    const address = addresses.of(request);
    const tally = address === undefined ? undefined : this.#tallies.get(address);
    if (tally === undefined) return undefined;
    if (tally.connections >= maxConnections) {
      const message = `expected at most ${maxConnections} connections of an address to this process, got one more`;
      return { reason: 'connections_of_address', message };
    }
    if (!this.#rate.admits(tally, now())) {
      const message = `expected at most ${this.#rate.perSecond} new connections a second of an address to this process, got more`;
      return { reason: 'connection_rate_of_address', message };
    }
    return undefined;
  }

  /** Counts the socket until it is closed. */
  admitted(request: IncomingMessage, socket: Closable): void {
    const { addresses, now } = this.#options;
    const time = now();
    this.#forgetIdle(time);
    const address = addresses.of(request);
    if (address === undefined) return;
    const tally = this.#tallies.get(address) ?? new AddressTally(address, this);
    this.#tallies.set(address, tally);
    this.#idle.delete(tally);
    tally.connections += 1;
    this.#rate.spend(tally, time);
    (socket as Counted)[TALLY] = tally;
    socket.once('close', onClose);
  }

  /** @param socket one that has been admitted */
  addressOf(socket: Closable): ClientAddress | undefined {
    return (socket as Counted)[TALLY];
  }

  left(tally: AddressTally): void {
    tally.connections -= 1;
    if (tally.connections === 0) this.#idle.add(tally);
  }

  inspect(limit: number): AddressesInspection {
    const open = [...this.#tallies.values()].filter(({ connections }) => connections > 0);
    const most = largest(open, limit, ({ connections }) => connections);
    return {
      count: open.length,
      largest: most.map(({ address, connections }) => ({ address, connections })),
    };
  }

  #forgetIdle(now: number): void {
    for (const tally of this.#idle) {
      if (tally.fullAt > now || tally.spentUntil > now) return;
      this.#idle.delete(tally);
      this.#tallies.delete(tally.address);
    }
  }
}

function onClose(this: Closable): void {
  (this as Counted)[TALLY]?.left();
}
