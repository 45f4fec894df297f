import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { RequestListener } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { Deadlines } from '../../support/deadlines.ts';
import { boundChunks } from '../chunked-request.ts';
import { Http2Request, Http2Response, tellSocket } from './http2-messages.ts';

/**
 * What one client may have. Node.js and nghttp2 bound the rest: 10 MB of a session's memory, its invalid frames, its frames
 * that wait for an acknowledgement.
 *
 * A session ends that resets more streams than the burst at once, or than the rate in a second for long: what comes in one read
 * is done in one turn of the event loop. Node.js 20 knows neither, and has a burst of 1,000.
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

/** A client has so long to close its end of a connection that the gateway has closed. */
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
  /** Whose requests have not come in whole. */
  readonly #incomplete: Deadlines<ServerHttp2Stream>;
  readonly #lingering = new Deadlines<TLSSocket>(LINGER_MS, (socket) => socket.destroy());

  /** @param listener gets requests and responses that are used as those of HTTP/1.1 are */
  constructor(options: Http2SessionsOptions, listener: RequestListener) {
    this.#options = options;
    this.#incomplete = new Deadlines(options.requestTimeout, (stream) =>
      stream.close(stream.headersSent ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL),
    );
    const messages = { Http2ServerRequest: Http2Request, Http2ServerResponse: Http2Response };
    // A busy process reads a stream and its reset at once. Node.js tells of the stream all the same, which has no socket then.
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

  /** Closes those without requests. */
  closeIdle(): void {
    for (const [session, { streams }] of this.#open) if (streams === 0) this.#close(session);
  }

  /** Takes no more requests on any, which their clients are told; those under way go on. */
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

  /** It has no requests for now. */
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
