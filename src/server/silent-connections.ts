import type { Server, Socket } from 'node:net';
import { Deadlines } from '../support/deadlines.ts';
import { connectionOf } from './tls/secure-server.ts';

/** ms. The server's own timeouts close them earlier: those of the handshake, the headers, or a session of HTTP/2. */
const MOST_MS = 120_000;

/** ms that they may take when few places are left: round trips for TCP, TLS and the request. */
const PATIENCE_MS = 1_000;

/** Connections without a complete first request. Their clients are unknown, so no other cap applies to them. */
export class SilentConnections {
  readonly #open = new Deadlines<Socket>(MOST_MS, (socket) => socket.destroy());
  readonly #onClose: (this: Socket) => void;

  constructor(server: Server) {
    const open = this.#open;
    this.#onClose = function forget() {
      open.end(this);
    };
    server.on('connection', (socket: Socket) => {
      open.begin(socket);
      socket.on('close', this.#onClose);
    });
  }

  /** @param socket of a request */
  hasAsked(socket: Socket): void {
    const connection = connectionOf(socket);
    this.#open.end(connection);
    connection.off('close', this.#onClose);
  }

  closeSlow(): void {
    this.#open.expireAfter(PATIENCE_MS);
  }
}
