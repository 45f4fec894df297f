import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { SluiceError } from '../errors.ts';
import { ownBytes } from '../support/byte-budget.ts';
import type { HttpRefusal } from './admission.ts';
import type { HostCheck } from './host-check.ts';
import { closeIdleWhenFull } from './idle-connections.ts';
import { PipelinedResponses, type PipelinedOptions } from './pipelined-responses.ts';
import { ProxyProtocol, type ProxyProtocolOptions } from './proxy-protocol.ts';
import { sendJson } from './respond.ts';
import { SilentConnections } from './silent-connections.ts';
import type { Certificate } from './tls/certificate.ts';
import type { Http2Sessions } from './tls/http2-sessions.ts';
import { createSecureServer } from './tls/secure-server.ts';
import { refuseUpgrade, type AcceptUpgrade } from './upgrade.ts';
import { ChunkedRequest } from './chunked-request.ts';

/** Node.js's finding in `Connection` and `Upgrade`. Not a field: the base class sets it before fields are created. */
const ASKED = Symbol('asked');

/**
 * Headers of every response: browsers do not interpret it as another type, show it in a frame, or send its address to other
 * sites. This content security policy lets a document load nothing; pages set their own instead.
 */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

export interface HttpServerOptions {
  /** 0: the operating system chooses one. */
  readonly port: number;
  /** Name of the setting that the port comes from, for error messages. */
  readonly setting: string;
  /** Undefined: all addresses of the machine. */
  readonly address?: string | undefined;
  /** Name of the setting that the address comes from. */
  readonly addressSetting?: string;
  /** Absent: requests may be addressed to any host. */
  readonly hostCheck?: HostCheck;
  /**
   * True: listen on the loopback address, and in this process only. (The workers of a pod share all other ports that
   * they listen on.)
   */
  readonly local?: boolean;
  /** Must not reject. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Absent: all `Upgrade` headers are ignored. Otherwise, those for protocols other than WebSocket are ignored. */
  readonly upgrade?: AcceptUpgrade;
  /**
   * Most connections of all kinds. Near the limit, connections that are idle, or slow to send a first request, are closed
   * to make room. A connection beyond it is closed at once, and `dropped` is called. Default: no limit.
   */
  readonly maxSockets?: number;
  readonly dropped?: () => void;
  /** Limits waiting requests and responses of clients that do not wait for responses, or do not read them. */
  readonly pipelined?: PipelinedOptions;
  /** Without it, connections begin with HTTP, or with TLS. */
  readonly proxyProtocol?: ProxyProtocolOptions | undefined;
  /** With it, connections use TLS, and may speak HTTP/2. */
  readonly certificate?: Certificate | undefined;
}

/**
 * ms. They limit peers that open connections and send slowly. Keep-alive is longer than the usual 60 seconds of load
 * balancers, which would otherwise send a request on a connection that the gateway is closing.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/** A socket without traffic in either direction for so long is closed: its peer has stopped reading the response. */
const IDLE_TIMEOUT_MS = 120_000;

const PIPELINED = { most: 3_000 };

/** Bytes of responses that clients have not read yet. */
const UNREAD = 16 * 1_048_576;

const LOOPBACK = '127.0.0.1';

const PORT_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens on it',
  EACCES: 'the system does not permit it',
};

const ADDRESS_ERRORS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'no interface has it',
  EAFNOSUPPORT: 'the machine does not have this version of IP',
  EINVAL: 'the system does not permit it',
};

/** Another pod, if there is one, accepts the connection at once. */
const STOPPING: HttpRefusal = { status: 503, message: 'this pod is stopping', retryAfter: 1 };

/**
 * An HTTP server on one port, started once and stopped once. Upgraded sockets belong to the transport that has accepted
 * them; stopping the server neither closes them nor waits for them.
 */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server | SecureServer;
  readonly #http2: Http2Sessions | undefined;
  readonly #silent: SilentConnections | undefined;
  readonly #unfinished = new Set<ServerResponse>();
  readonly #pipelined: PipelinedResponses;
  #stopping = false;
  #onFinished: (() => void) | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#pipelined = new PipelinedResponses(options.pipelined ?? { ...PIPELINED, unread: ownBytes(UNREAD) });
    const { maxSockets, dropped, proxyProtocol, certificate } = options;
    // Node.js itself responds to malformed requests and errors of their sockets, with 400, 408, 413 or 431.
    const how = { ...TIMEOUTS, IncomingMessage: WebSocketRequest };
    const { server, http2 } =
      certificate === undefined
        ? { server: createServer(how, this.#onRequest), http2: undefined }
        : createSecureServer({ ...how, ...certificate.current }, this.#onRequest);
    this.#server = server;
    this.#http2 = http2;
    if (dropped !== undefined) this.#server.on('drop', dropped);
    if (proxyProtocol !== undefined) new ProxyProtocol(proxyProtocol).guard(this.#server);
    if (maxSockets !== undefined) {
      this.#server.maxConnections = maxSockets;
      this.#silent = new SilentConnections(this.#server);
      closeIdleWhenFull(this.#server, maxSockets, () => this.#makeRoom());
    }
    if (options.upgrade !== undefined) this.#server.on('upgrade', this.#onUpgrade);
  }

  /**
   * Starts to listen.
   *
   * @returns the port
   * @throws SluiceError BAD_SETTINGS if the port or the address is not available
   */
  async start(): Promise<number> {
    const { port, address, local = false } = this.#options;
    const host = local ? LOOPBACK : address;
    this.#server.listen({ port, ...(host !== undefined && { host }), exclusive: local });
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      throw unavailable(this.#options, error);
    }
    this.#options.certificate?.start((pair) => (this.#server as SecureServer).setSecureContext(pair));
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * From now on WebSocket upgrades are refused; requests are still answered, and their connections closed afterwards.
   */
  refuseUpgrades(): void {
    this.#stopping = true;
    this.#server.closeIdleConnections();
    this.#http2?.retire();
  }

  /** Why upgrades are refused; undefined as long as they are not. */
  unavailable(): HttpRefusal | undefined {
    return this.#stopping ? STOPPING : undefined;
  }

  /** Accepts no more connections, so that other processes on the same port get them. */
  stopListening(): void {
    this.#server.close();
  }

  /**
   * Accepts no more connections, closes idle ones at once, and waits for the responses to requests that have begun.
   *
   * @param deadline when it aborts, the connections of unfinished responses are closed
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping = true;
    this.#options.certificate?.stop();
    this.stopListening();
    this.#http2?.retire();
    for (const response of this.#unfinished) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    if (this.#unfinished.size > 0 && !deadline.aborted) {
      await new Promise<void>((resolve) => {
        this.#onFinished = resolve;
        deadline.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    this.#server.closeAllConnections();
    this.#http2?.closeAll();
  }

  #makeRoom(): void {
    this.#silent?.closeSlow();
    this.#server.closeIdleConnections();
    this.#http2?.closeIdle();
  }

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    this.#silent?.hasAsked(request.socket);
    const inOrder = this.#pipelined.add(request, response);
    if (inOrder === undefined) return;
    // Not the server's own `timeout`: upgraded sockets would keep its timers in memory as long as they are open.
    request.setTimeout(IDLE_TIMEOUT_MS);
    this.#unfinished.add(response);
    response.once('close', () => {
      this.#unfinished.delete(response);
      if (this.#unfinished.size === 0) this.#onFinished?.();
    });
    if (this.#stopping) response.setHeader('connection', 'close');
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const refusal = this.#options.hostCheck?.refusal(request);
    if (refusal !== undefined) {
      request.resume();
      inOrder(async () => sendJson(response, 403, { error: refusal }));
      return;
    }
    inOrder(() => this.#options.handle(request, response));
  };

  readonly #onUpgrade: AcceptUpgrade = (request, socket, head) => {
    this.#silent?.hasAsked(request.socket);
    // An earlier request on this socket may have set the timeout. The WebSocket's own pings find dead peers.
    request.socket.setTimeout(0);
    const refusal = this.#options.hostCheck?.refusal(request);
    if (this.#stopping) refuseUpgrade(socket, STOPPING);
    else if (refusal !== undefined) refuseUpgrade(socket, { status: 403, message: refusal });
    else this.#options.upgrade?.(request, socket, head);
  };
}

function unavailable(options: HttpServerOptions, cause: unknown): SluiceError {
  const { port, setting, address, addressSetting } = options;
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  const reason = ADDRESS_ERRORS[code];
  if (address !== undefined && reason !== undefined) {
    const message = `${addressSetting}: expected an address of this machine, got ${address}: ${reason}`;
    return new SluiceError('BAD_SETTINGS', message, { cause });
  }
  return new SluiceError(
    'BAD_SETTINGS',
    `${setting}: expected a free port, got ${port}: ${PORT_ERRORS[code] ?? code}. 0 lets the system choose one.`,
    { cause },
  );
}

interface Asking {
  [ASKED]?: boolean | null | undefined;
}

/**
 * The request of a server that upgrades only to WebSocket. Once a server listens for upgrades, Node.js takes every request
 * with an `Upgrade` header away from HTTP, also for a protocol that it does not know. HTTP requires servers to ignore protocols
 * that they do not speak.
 *
 * Node.js asks for `upgrade` when the headers have been read, so a request with `upgrade` false continues like any other,
 * with its body and the requests after it. (Node.js 24 has `shouldUpgradeCallback` for this.)
 */
class WebSocketRequest extends ChunkedRequest {
  get upgrade(): boolean | null | undefined {
    const asked = (this as Asking)[ASKED];
    return asked === true && this.headers.upgrade?.toLowerCase() !== 'websocket' ? false : asked;
  }

  set upgrade(upgrade: boolean | null | undefined) {
    (this as Asking)[ASKED] = upgrade;
  }
}
