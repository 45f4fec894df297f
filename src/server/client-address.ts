import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

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

/**
 * An address without port, brackets and zone. IPv4 in IPv6 (`::ffff:0:0/96`, RFC 4291, section 2.5.5.2) becomes IPv4 in
 * each of its forms: `::ffff:198.51.100.1`, `::ffff:c633:6401`, `0:0:0:0:0:ffff:c633:6401`. Sockets that listen for both
 * versions, and proxies, name all IPv4 clients like this.
 *
 * @returns undefined if the text is not an address
 */
function plainAddress(text: string): string | undefined {
  const [, bracketed, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const [address = ''] = (bracketed ?? v4 ?? text).split('%');
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? address : (mappedIn(groupsOf(address)) ?? address);
}

/**
 * @param address a plain one
 * @returns IPv4 as it is, IPv6's /64 network; as a new text, since part of a header would keep all of it in memory
 */
function networkOf(address: string): string {
  if (isIP(address) === 4) return address.split('.').map(Number).join('.');
  return `${groupsOf(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of an IPv6 address; `::` stands for all missing zeros. */
function groupsOf(address: string): readonly number[] {
  const [head = [], tail = []] = address.split('::').map(groupsIn);
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

/** The last two groups may be written as IPv4. */
function groupsIn(part: string): readonly number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function mappedIn(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.') : undefined;
}
