import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { ByteSource, Reservation } from '../support/byte-budget.ts';
import { largest } from '../support/largest.ts';

export interface PipelinedOptions {
  /** Most responses that may wait for those before them, of all connections together. */
  readonly most: number;
  /** Holds what clients have not read yet of all responses. Owners are connections. */
  readonly unread: Pick<ByteSource, 'empty' | 'most'>;
  /** A connection was closed for one of these. */
  readonly refused?: (() => void) | undefined;
}

/** A socket of HTTP/1.1, or a session of HTTP/2. */
interface Connection {
  readonly destroyed: boolean;
  readonly writableLength?: number;
  once(event: 'close', listener: () => void): unknown;
  destroy(): void;
  /** Undocumented, of Node.js's sockets of HTTP/1.1. */
  readonly parser?: { onIncoming?: unknown } | null;
}

/** A connection may have responses that wait up to such a part of what is left for all. */
const SHARES = 10;

/** A return value of the parser's callback. The parser takes it for a request of another protocol, and leaves the rest of what has been read. */
const UPGRADED = 2;

/** Requests of one connection that have no whole response yet. */
interface Unanswered {
  readonly responses: Set<ServerResponse>;
  /** Handles those that came behind others, in their order. */
  readonly behind: (() => void)[];
}

/**
 * Bounds requests that come before those before them have been answered (HTTP/1.1), and responses that clients do not read.
 *
 * Nobody can have a response before those before it. So each request is handled when the one before has been answered, in a turn
 * of its own: 64 KB that Node.js reads at once may be 2,000 requests. Node.js does not bound how many there are, and reads on as
 * long as none of them has been answered. When a connection closes, Node.js tells only its first response: the others would be
 * in memory for ever. Where what is unread of all connections has no room, those that have most are closed.
 */
export class PipelinedResponses {
  readonly #options: PipelinedOptions;
  readonly #byConnection = new WeakMap<Connection, Unanswered>();
  /** Connections whose clients have not read all of their responses, with the bytes of those. */
  readonly #unread = new Map<Connection, Reservation>();
  /** Responses that are not the first of their connection. */
  #waiting = 0;

  constructor(options: PipelinedOptions) {
    this.#options = options;
  }

  /**
   * Has the response emit `close` when the connection of its request closes.
   *
   * @returns a function that calls a handler when the request's turn has come; the handler resolves once the response has been
   *   given its end. Undefined if so many requests wait already that the connection is closed
   */
  add(
    request: IncomingMessage,
    response: ServerResponse,
  ): ((handle: () => Promise<unknown>) => void) | undefined {
    const connection = connectionOf(request);
    const { responses, behind } = this.#of(connection);
    const { size } = responses;
    // The streams of HTTP/2 are bounded by its settings, and none waits for another.
    const waits = size > 0 && isSocket(connection);
    if (connection.destroyed || (waits && size >= (this.#options.most - this.#waiting) / SHARES)) {
      this.#refuse(connection);
      return undefined;
    }
    responses.add(response);
    if (waits) this.#waiting += 1;
    response.once('close', () => {
      responses.delete(response);
      if (responses.size > 0 && isSocket(connection)) this.#waiting -= 1;
      if (this.#unread.has(connection)) this.#hold(connection, unreadOf(connection, responses));
      const next = behind.shift();
      if (next !== undefined) setImmediate(next);
    });
    return (handle) => {
      const begin = (): void => {
        // Behind a response that closes the connection no other one can be sent.
        const canBeSent = !connection.destroyed && (response.socket !== null || !isSocket(connection));
        if (canBeSent) void handle().then(() => this.#ended(connection, responses));
      };
      if (waits) behind.push(begin);
      else begin();
    };
  }

  /** Closes the connection if its client does not read the responses that it has asked for. One may be of any length. */
  #ended(connection: Connection, responses: ReadonlySet<ServerResponse>): void {
    if (connection.destroyed) return;
    const bytes = unreadOf(connection, responses);
    // One response of HTTP/1.1 is made at a time; those of HTTP/2 add up.
    if (responses.size > 1 && !isSocket(connection) && bytes > this.#options.unread.most)
      this.#refuse(connection);
    else this.#hold(connection, bytes);
  }

  /** @param bytes of the connection's responses that are unread */
  #hold(connection: Connection, bytes: number): void {
    if (bytes === 0 || connection.destroyed) return this.#release(connection);
    const { unread } = this.#options;
    const held = this.#unread.get(connection) ?? unread.empty(connection);
    this.#unread.set(connection, held);
    const wanted = Math.min(bytes, unread.most);
    const sizeOf = ([each, { bytes: of }]: [Connection, Reservation]) => (each === connection ? wanted : of);
    while (this.#unread.has(connection) && !held.resize(wanted)) {
      const [most] = largest(this.#unread, 1, sizeOf);
      this.#refuse(most?.[0] ?? connection);
    }
  }

  #release(connection: Connection): void {
    this.#unread.get(connection)?.release();
    this.#unread.delete(connection);
  }

  #of(connection: Connection): Unanswered {
    const known = this.#byConnection.get(connection);
    if (known !== undefined) return known;
    const responses = new Set<ServerResponse>();
    const unanswered = { responses, behind: [] };
    this.#byConnection.set(connection, unanswered);
    connection.once('close', () => {
      this.#release(connection);
      if (isSocket(connection)) for (const waiting of responses) if (waiting.socket === null) close(waiting);
    });
    return unanswered;
  }

  #refuse(connection: Connection): void {
    this.#release(connection);
    if (connection.destroyed) return;
    this.#options.refused?.();
    // Node.js would go on to make a request of each that it has read.
    const { parser } = connection;
    if (parser?.onIncoming !== undefined) parser.onIncoming = () => UPGRADED;
    connection.destroy();
  }
}

function connectionOf(request: IncomingMessage): Connection {
  // Requests of HTTP/2 have another class, and a socket that stands for their session's.
  const { stream } = request as Partial<Pick<Http2ServerRequest, 'stream'>>;
  return stream?.session ?? request.socket;
}

function isSocket(connection: Connection): boolean {
  return connection.writableLength !== undefined;
}

function unreadOf(connection: Connection, responses: Iterable<ServerResponse>): number {
  let bytes = connection.writableLength ?? 0;
  for (const response of responses) {
    const { stream } = response as { readonly stream?: { readonly writableLength: number } };
    if (stream !== undefined) bytes += stream.writableLength;
    else if (response.socket === null) bytes += response.writableLength;
  }
  return bytes;
}

/** Does for a response that waits what Node.js does for the first. */
function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
