import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers that proxies add to the requests that they forward. */
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/**
 * Whether a request comes from this machine and is addressed to localhost. A loopback peer alone does not prove that:
 *
 * - A proxy on this machine forwards requests of others. It is recognised by headers that proxies add, or by the Host
 *   header that it forwards.
 * - A web page in a browser on this machine may come from a host name that resolves to a loopback address (DNS rebinding).
 *   It is recognised by the Host header.
 */
export function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const isForwarded = FORWARDED.some((name) => name in headers);
  return !isForwarded && isLoopbackAddress(socket.remoteAddress) && isLoopbackHost(headers.host);
}

/**
 * Lets a page read the response if the page comes from another port of this machine, with the same host name: the page at
 * `/debug/` of another pod, behind a port-forward.
 *
 * @returns whether the request comes from such a page
 */
export function letNeighbourRead({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const { origin = '', 'sec-fetch-site': site } = headers;
  const [, host] = /^https?:\/\/(.*)$/.exec(origin) ?? [];
  if (site !== 'same-site' || !isLoopbackHost(host)) return false;
  response.setHeader('access-control-allow-origin', origin).setHeader('vary', 'origin');
  return true;
}

export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host);
}
