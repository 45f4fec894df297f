import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress, isLoopbackHost } from './loopback.ts';

/**
 * Decides to which hosts requests may be addressed. A site can let its own host name resolve to the address of a gateway
 * that its server can't reach. A browser on that network then takes the gateway for the page's own host (DNS rebinding),
 * and the check of origins lets the page pass. Only the Host header reveals this.
 */
export class HostCheck {
  readonly #setting: readonly string[] | 'loopback';
  readonly #listed: ReadonlySet<string>;

  /** @param hosts the setting `HOSTS`: names in lower case, or `*`, or `loopback` */
  constructor(hosts: readonly string[] | 'loopback') {
    this.#setting = hosts;
    this.#listed = new Set(hosts === 'loopback' ? [] : hosts);
  }

  /** @returns why the request is refused; undefined if it is not */
  refusal({ socket, headers: { host } }: IncomingMessage): string | undefined {
    if (this.#listed.has('*') || (host !== undefined && this.#listed.has(nameOf(host)))) return undefined;
    const isLax = this.#setting === 'loopback';
    const namesThisMachine = isLoopbackHost(host);
    // The address last: once read, the socket keeps it in memory.
    if (isLax && namesThisMachine) return undefined;
    const isLocal = isLoopbackAddress(socket.remoteAddress);
    if (isLax ? !isLocal : isLocal && namesThisMachine) return undefined;
    const got = host === undefined ? 'none' : JSON.stringify(host);
    if (!isLax) return `expected a Host that is listed in HOSTS, got ${got}`;
    return `expected a Host that is this machine, such as localhost, from a peer on it, or one that is listed in HOSTS, got ${got}`;
  }
}

/** Without port, in lower case. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '');
}
