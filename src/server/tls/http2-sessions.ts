import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  Http2ServerRequest,
  Http2ServerResponse,
} from 'node:http2';
import type { RequestListener } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { Deadlines } from '../../support/deadlines.ts';
import { boundChunks } from '../chunked-request.ts';

/** The connection of each session, for its streams, as long as the session exists. */
const SOCKETS = new WeakMap<object, TLSSocket>();

/** @param session of HTTP/2; its requests come over the socket */
function tellSocket(session: object, socket: TLSSocket): void {
  SOCKETS.set(session, socket);
}

/**
 * A request over HTTP/2 for handlers of HTTP/1.1 requests: without pseudo-headers, with a `Host`, and with the socket that
 * all requests of its session share.
 */
class Http2Request extends Http2ServerRequest {
  constructor(...given: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...given);
    const [{ session }, all] = given;
    const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith(':')));
    // The authority is the request's real target. An additional `Host` could differ from it.
    const { ':authority': authority = all.host } = all;
    const value = authority === undefined ? headers : { ...headers, host: authority };
    // Own properties take precedence over accessors of the base class.
    Object.defineProperties(this, { headers: { value }, socket: { value: SOCKETS.get(session as object) } });
  }

  /** Closes the stream after so long without traffic: without a listener, Node.js would do nothing. */
  override setTimeout(ms: number): void {
    const { stream } = this;
    stream.removeAllListeners('timeout');
    stream.setTimeout(ms);
    if (ms > 0) stream.once('timeout', () => stream.close(constants.NGHTTP2_CANCEL));
  }
}

/** A response over HTTP/2 for code that writes HTTP/1.1 responses. */
class Http2Response extends Http2ServerResponse<Http2Request> {
  constructor(...given: ConstructorParameters<typeof Http2ServerResponse>) {
    super(...given);
    const [stream] = given;
    Object.defineProperty(this, 'destroyed', { get: () => stream.destroyed });
  }

  /**
   * `connection: close` does not exist in HTTP/2. Here it makes the session accept no more requests: its client sends
   * further ones on another connection.
   */
  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (name.toLowerCase() !== 'connection') super.setHeader(name, value);
    else if (value === 'close') this.stream.session?.close();
  }
}

/**
 * The limits of one client. Node.js and nghttp2 limit the rest: a session's memory (10 MB), its invalid frames, and its
 * frames that wait for an acknowledgement.
 *
 * A session ends if it resets more streams at once than the burst, or for long more in a second than the rate: all resets
 * of one read are handled in one turn of the event loop. Node.js 20 knows neither limit, and has a burst of 1,000.
 */
const LIMITS = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 16_384 },
  streamResetBurst: 128,
  streamResetRate: 33,
};

export interface Http2SessionsOptions {
  /** ms from the beginning of a request until its body has come. */
  readonly requestTimeout: number;
  /** ms that a session without requests is kept. */
  readonly keepAliveTimeout: number;
}

/** How long a client has to close its end of a connection that the gateway has closed: ms. */
const LINGER_MS = 5_000;

interface OpenSession {
  readonly socket: TLSSocket;
  streams: number;
}

/** Connections that speak HTTP/2, each with any number of requests at once. */
export class Http2Sessions {
  readonly #server: Http2Server;
  readonly #options: Http2SessionsOptions;
  readonly #open = new Map<ServerHttp2Session, OpenSession>();
  /** Streams without a complete request. */
  readonly #incomplete: Deadlines<ServerHttp2Stream>;
  readonly #lingering = new Deadlines<TLSSocket>(LINGER_MS, (socket) => socket.destroy());

  /** @param listener gets requests and responses that can be used like those of HTTP/1.1 */
  constructor(options: Http2SessionsOptions, listener: RequestListener) {
    this.#options = options;
    this.#incomplete = new Deadlines(options.requestTimeout, (stream) =>
      stream.close(stream.headersSent ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL),
    );
    const messages = { Http2ServerRequest: Http2Request, Http2ServerResponse: Http2Response };
    // A busy process may read a stream and its reset at once. Node.js still reports the stream, which then has no socket.
    const told = (request: Http2Request, response: Http2Response): void => {
      if (!request.stream.destroyed) listener(request as never, response as never);
    };
    this.#server = createServer({ ...LIMITS, ...messages }, told as never);
  }

  accept(socket: TLSSocket): void {
    this.#server.once('session', (session: ServerHttp2Session) => this.#begin(session, socket));
    // The server makes a session of the socket at once.
    this.#server.emit('connection', socket);
  }

  /** Closes sessions without requests. */
  closeIdle(): void {
    for (const [session, { streams }] of this.#open) if (streams === 0) this.#close(session);
  }

  /** Accepts no more requests on any session, and tells the clients so; requests under way go on. */
  retire(): void {
    for (const session of this.#open.keys()) this.#close(session);
  }

  closeAll(): void {
    for (const [session, { socket }] of this.#open) {
      session.destroy();
      socket.destroy();
    }
  }

  #begin(session: ServerHttp2Session, socket: TLSSocket): void {
    const open: OpenSession = { socket, streams: 0 };
    this.#open.set(session, open);
    tellSocket(session, socket);
    session.setTimeout(this.#options.keepAliveTimeout);
    session.on('timeout', () => {
      if (open.streams === 0) this.#close(session);
    });
    session.on('stream', (stream: ServerHttp2Stream) => {
      if (stream.destroyed) return;
      open.streams += 1;
      if (!stream.endAfterHeaders) {
        this.#incomplete.begin(stream);
        boundChunks(stream, () => socket.destroy());
      }
      stream.once('end', () => this.#incomplete.end(stream));
      stream.once('close', () => {
        this.#incomplete.end(stream);
        open.streams -= 1;
        if (open.streams === 0) this.#rest(session, socket);
      });
    });
    socket.once('close', () => {
      this.#open.delete(session);
      this.#lingering.end(socket);
    });
  }

  /** The session has no requests now. */
  #rest(session: ServerHttp2Session, socket: TLSSocket): void {
    if (session.closed) this.#lingering.begin(socket);
    else session.setTimeout(this.#options.keepAliveTimeout);
  }

  #close(session: ServerHttp2Session): void {
    if (session.closed) return;
    session.close();
    const open = this.#open.get(session);
    if (open?.streams === 0) this.#lingering.begin(open.socket);
  }
}
