import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** The connection of a stream's session, as long as the session has one to tell. */
const SOCKETS = new WeakMap<object, TLSSocket>();

/** @param session of HTTP/2, whose requests come over the socket */
export function tellSocket(session: object, socket: TLSSocket): void {
  SOCKETS.set(session, socket);
}

/**
 * A request over HTTP/2, for those who handle requests of HTTP/1.1: without pseudo-headers, with a `Host`, and with the
 * socket that it shares with others of its session.
 */
export class Http2Request extends Http2ServerRequest {
  constructor(...given: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...given);
    const [{ session }, all] = given;
    const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith(':')));
    // The authority is where the request goes. A `Host` beside it could be another.
    const { ':authority': authority = all.host } = all;
    const value = authority === undefined ? headers : { ...headers, host: authority };
    // Properties of its own before accessors of the base class.
    Object.defineProperties(this, { headers: { value }, socket: { value: SOCKETS.get(session as object) } });
  }

  /** Closes the stream when nothing has come or gone for so long: without a listener, Node.js would do nothing. */
  override setTimeout(ms: number): void {
    const { stream } = this;
    stream.removeAllListeners('timeout');
    stream.setTimeout(ms);
    if (ms > 0) stream.once('timeout', () => stream.close(constants.NGHTTP2_CANCEL));
  }
}

/** A response over HTTP/2, for those who write responses of HTTP/1.1. */
export class Http2Response extends Http2ServerResponse<Http2Request> {
  constructor(...given: ConstructorParameters<typeof Http2ServerResponse>) {
    super(...given);
    const [stream] = given;
    Object.defineProperty(this, 'destroyed', { get: () => stream.destroyed });
  }

  /**
   * `connection: close` has no place in HTTP/2. Here it has the session take no more requests: its client sends further ones
   * on another connection.
   */
  override setHeader(name: string, value: number | string | readonly string[]): void {
    if (name.toLowerCase() !== 'connection') super.setHeader(name, value);
    else if (value === 'close') this.stream.session?.close();
  }
}
