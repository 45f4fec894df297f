import type { IncomingMessage } from 'node:http';

/** What proxies add to the requests that they pass on. */
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/**
 * Whether a request comes from this machine and is meant for it. A peer on loopback is not enough to know that: a
 * proxy on this machine speaks for others, and is told by the Host that it passes on or by what proxies add; a page in
 * this machine's browser, under a name that its author has pointed at loopback, is told by the Host as well.
 */
export function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const isForwarded = FORWARDED.some((name) => name in headers);
  return !isForwarded && isLoopbackAddress(socket.remoteAddress) && isLoopbackHost(headers.host);
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host);
}
