import type { Server, Socket } from 'node:net';
import { Deadlines } from '../support/deadlines.ts';
import { MAX_HEADER, parseProxyHeader } from './proxy-header.ts';

export interface ProxyProtocolOptions {
  /** Whether headers of this peer are trusted. */
  readonly isTrusted: (address: string) => boolean;
  /** Called when a connection was closed because its header is invalid or missing. */
  readonly refused: () => void;
  /** How long the header may take. Proxies send it at once. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;

type Listener = (socket: Socket) => void;

/**
 * Reads the header of the PROXY protocol, with which every connection must begin, before HTTP or TLS gets the connection.
 * From then on the socket's `remoteAddress` is the client's.
 */
export class ProxyProtocol {
  readonly #options: ProxyProtocolOptions;
  readonly #deadlines: Deadlines<Socket>;

  constructor(options: ProxyProtocolOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.timeoutMs ?? TIMEOUT_MS, (socket) => this.#refuse(socket));
  }

  /** Takes over the server's connections, and passes each to the server after its header. */
  guard(server: Server): void {
    const listeners = server.listeners('connection') as Listener[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) =>
      this.#onConnection(socket, () => {
        for (const listener of listeners) listener.call(server, socket);
      }),
    );
  }

  #onConnection(socket: Socket, accept: () => void): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return; // It has disconnected.
    if (!this.#options.isTrusted(remoteAddress)) {
      this.#refuse(socket);
      return;
    }
    const forget = (): void => this.#deadlines.end(socket);
    let bytes = Buffer.alloc(0);
    const onReadable = (): void => {
      const more = socket.read() as Buffer | null;
      if (more === null) return;
      bytes = Buffer.concat([bytes, more]);
      const header = parseProxyHeader(bytes);
      if (header === 'incomplete' && bytes.length < MAX_HEADER) return;
      socket.off('readable', onReadable).off('close', forget).off('error', ignore).off('end', onEnd);
      forget();
      if (typeof header === 'string') {
        this.#refuse(socket);
        return;
      }
      if (header.address !== undefined) {
        Object.defineProperty(socket, 'remoteAddress', { value: header.address });
      }
      const rest = bytes.subarray(header.length);
      if (rest.length > 0) socket.unshift(rest);
      accept();
    };
    const onEnd = (): void => this.#refuse(socket);
    this.#deadlines.begin(socket);
    socket.on('readable', onReadable).on('close', forget).on('error', ignore).on('end', onEnd);
  }

  #refuse(socket: Socket): void {
    this.#options.refused();
    socket.destroy();
  }
}

/** `close` follows. */
function ignore(): void {}
