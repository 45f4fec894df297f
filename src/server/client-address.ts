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
 * Finds out whose connection a request comes on. Proxies append to `X-Forwarded-For` the address that they were reached
 * from, so what is left of the last untrusted address may be made up by the client:
 *
 *     X-Forwarded-For: <made up>, <client>, <trusted proxy> ──► gateway, reached from a trusted proxy
 */
export class ClientAddresses {
  readonly #proxies: TrustedProxies | undefined;

  /** @param proxies undefined: it is not known whose addresses connect */
  constructor(proxies: TrustedProxies | undefined) {
    this.#proxies = proxies;
  }

  /** Whether clients' addresses are known, but for what proxies do not tell. */
  get areKnown(): boolean {
    return this.#proxies !== undefined;
  }

  /**
   * @returns the client's address, of IPv6 its /64 network, which one client has to itself; undefined if it is not known.
   *   An address of a trusted proxy is not known to be a client's: some balancer hides those behind its own.
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
