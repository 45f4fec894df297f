import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { networkOf, plainAddress } from './ip-address.ts';

/** The addresses and networks of the setting `TRUSTED_PROXIES`. */
export class TrustedProxies {
  readonly #list = new BlockList();

  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const family = familyOf(address);
      if (bits === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(bits), family);
    }
  }

  /** @param address a valid one */
  has(address: string): boolean {
    return this.#list.check(address, familyOf(address));
  }
}

/**
 * Finds the address of the client that sent a request. Each proxy appends its peer's address to `X-Forwarded-For`, so the
 * client may have made up everything to the left of the last untrusted address:
 *
 *     X-Forwarded-For: <made up>, <client>, <trusted proxy> ──► gateway, reached from a trusted proxy
 */
export class ClientAddresses {
  readonly #proxies: TrustedProxies | undefined;

  /** @param proxies undefined: it is not known whether connecting addresses are clients' or proxies' */
  constructor(proxies: TrustedProxies | undefined) {
    this.#proxies = proxies;
  }

  /** Whether clients' addresses are known, except those that proxies do not report. */
  get areKnown(): boolean {
    return this.#proxies !== undefined;
  }

  /**
   * @returns the client's address, for IPv6 its /64 network, which belongs to one client; undefined if it is not known. A
   *   trusted proxy's address does not count as a client's: some balancers hide client addresses behind their own.
   */
  of({ socket, headers }: IncomingMessage): string | undefined {
    const proxies = this.#proxies;
    if (proxies === undefined) return undefined;
    const forwarded = headers['x-forwarded-for'];
    const hops = typeof forwarded === 'string' ? forwarded.split(',') : [];
    for (let hop: string | undefined = socket.remoteAddress; hop !== undefined; hop = hops.pop()) {
      const address = plainAddress(hop.trim());
      if (address === undefined) return undefined;
      if (!proxies.has(address)) return networkOf(address);
    }
    return undefined;
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
