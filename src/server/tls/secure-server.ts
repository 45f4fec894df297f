import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Http2Sessions, type Http2SessionsOptions } from './http2-sessions.ts';

/** ms for the handshake of TLS. */
const HANDSHAKE_TIMEOUT = 10_000;

/** Undocumented property of Node.js's TLSSocket. */
interface Layered {
  readonly _parent?: Socket | null;
}

/**
 * An HTTPS server that also speaks HTTP/2, with clients that ask for it in the handshake (ALPN). WebSockets use HTTP/1.1:
 * browsers open a separate connection for each.
 *
 * Not `http2.createSecureServer` with `allowHTTP1`: it has no timeouts for idle connections of HTTP/1.1.
 */
export function createSecureServer(
  options: ServerOptions & Http2SessionsOptions,
  listener: RequestListener,
): { server: Server; http2: Http2Sessions } {
  const server = createServer(
    { ...options, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: HANDSHAKE_TIMEOUT },
    listener,
  );
  const http2 = new Http2Sessions(options, listener);
  const [beginHttp1] = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket) => {
    tellClientAddress(socket);
    if (socket.alpnProtocol === 'h2') http2.accept(socket);
    else beginHttp1?.call(server, socket);
  });
  return { server, http2 };
}

/** @returns the TCP connection of a socket; without TLS the socket itself */
export function connectionOf(socket: Socket): Socket {
  const { _parent: parent } = socket as Layered;
  return parent ?? socket;
}

/** Copies the client's address from the TCP connection, if a header of the PROXY protocol has set it there. */
function tellClientAddress(socket: TLSSocket): void {
  const connection = connectionOf(socket);
  if (!Object.hasOwn(connection, 'remoteAddress')) return;
  Object.defineProperty(socket, 'remoteAddress', { value: connection.remoteAddress });
}
