import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { SluiceError } from '../errors.ts';
import { refuseUpgrade, type AcceptUpgrade } from './upgrade.ts';

export interface HttpServerOptions {
  /** 0: the system chooses. */
  readonly port: number;
  /** The setting that the port comes from, for the error that says it is taken. */
  readonly setting: string;
  /**
   * Only for peers on this machine, and for this process alone: the workers of a pod share the ports that they listen on
   * otherwise.
   */
  readonly local?: boolean;
  /** Must not reject. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Without it, `Upgrade` headers are ignored, as HTTP allows. */
  readonly upgrade?: AcceptUpgrade;
}

/**
 * Against peers that open connections and dawdle. Keep-alive outlives the 60 seconds of usual load balancers, which
 * would otherwise send a request into a connection that is being closed.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/** A socket on which nothing moves, in either direction, for so long is closed: a reader that stopped reading. */
const IDLE_TIMEOUT_MS = 120_000;

const LOOPBACK = '127.0.0.1';

/** Another pod takes the connection right away, where there is one. */
const RETRY_AFTER = 'Retry-After: 1';

/**
 * A port that is listened on: started once, stopped once. Upgraded sockets belong to whoever took them; stopping
 * neither closes nor awaits them.
 */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #inHand = new Set<ServerResponse>();
  #leaving = false;
  #finished: (() => void) | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    // Malformed requests and errors of their sockets are answered by Node.js itself, with 400, 408, 413 or 431.
    this.#server = createServer(TIMEOUTS, (request, response) => this.#onRequest(request, response));
    if (options.upgrade !== undefined) this.#server.on('upgrade', this.#onUpgrade);
  }

  /**
   * @returns the port, once connections are taken
   * @throws SluiceError BAD_SETTINGS if the port can't be had
   */
  async start(): Promise<number> {
    const { port, setting, local = false } = this.#options;
    this.#server.listen(local ? { port, host: LOOPBACK, exclusive: true } : { port });
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      throw unavailable(setting, port, error);
    }
    return (this.#server.address() as AddressInfo).port;
  }

  /** Goes on answering requests, each on a connection that ends with it, and takes no more WebSockets. */
  refuseUpgrades(): void {
    this.#leaving = true;
    this.#server.closeIdleConnections();
  }

  /** Leaves new connections to other processes on the same port. */
  stopListening(): void {
    this.#server.close();
  }

  /**
   * Takes no more connections, closes idle ones at once, finishes the requests in hand.
   *
   * @param deadline when it aborts, what is still in hand is cut off
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#leaving = true;
    this.stopListening();
    for (const response of this.#inHand) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    if (this.#inHand.size > 0 && !deadline.aborted) {
      await new Promise<void>((resolve) => {
        this.#finished = resolve;
        deadline.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    this.#server.closeAllConnections();
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    // Not as the server's own `timeout`: upgraded sockets would hold its timers for as long as they live.
    request.socket.setTimeout(IDLE_TIMEOUT_MS);
    this.#inHand.add(response);
    response.once('close', () => {
      this.#inHand.delete(response);
      if (this.#inHand.size === 0) this.#finished?.();
    });
    if (this.#leaving) response.setHeader('connection', 'close');
    void this.#options.handle(request, response);
  }

  readonly #onUpgrade: AcceptUpgrade = (request, socket, head) => {
    // An upgraded socket may be silent for as long as it likes, after whatever requests.
    request.socket.setTimeout(0);
    if (this.#leaving) refuseUpgrade(socket, 503, 'this pod is stopping', RETRY_AFTER);
    else this.#options.upgrade?.(request, socket, head);
  };
}

function unavailable(setting: string, port: number, cause: unknown): SluiceError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process listens on it',
    EACCES: 'the system does not permit it',
  };
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  return new SluiceError(
    'BAD_SETTINGS',
    `${setting}: expected a free port, got ${port}: ${reasons[code] ?? code}. 0 lets the system choose one.`,
    { cause },
  );
}
