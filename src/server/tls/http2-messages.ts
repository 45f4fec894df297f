import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** The connection of each session, for its streams, as long as the session exists. */
const SOCKETS = new WeakMap<object, TLSSocket>();

/** @param session of HTTP/2; its requests come over the socket */
export function tellSocket(session: object, socket: TLSSocket): void {
  SOCKETS.set(session, socket);
}

/**
 * A request over HTTP/2 for handlers of HTTP/1.1 requests: without pseudo-headers, with a `Host`, and with the socket that
 * all requests of its session share.
 */
export class Http2Request extends Http2ServerRequest {
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
export class Http2Response extends Http2ServerResponse<Http2Request> {
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
