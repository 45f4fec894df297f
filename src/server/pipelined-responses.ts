import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { ByteSource, Reservation } from '../support/byte-budget.ts';
import { largest } from '../support/largest.ts';

export interface PipelinedOptions {
  /** Most responses, of all connections together, that may wait for earlier ones. */
  readonly most: number;
  /** Counts the bytes of responses that clients have not read yet. Owners are connections. */
  readonly unread: Pick<ByteSource, 'empty' | 'most'>;
  /** Called when a connection was closed because of one of these limits. */
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

/** One connection may have waiting responses up to one SHARES-th of the places left. */
const SHARES = 10;

/** Returned from the parser's callback: the parser then assumes another protocol, and leaves the rest of the bytes. */
const UPGRADED = 2;

/** Requests of one connection that have no whole response yet. */
interface Unanswered {
  readonly responses: Set<ServerResponse>;
  /** Handlers of requests that came after others, in order. */
  readonly behind: (() => void)[];
}

/**
 * Limits pipelined requests (HTTP/1.1), which come before earlier ones were answered, and responses that clients do not
 * read.
 *
 * A response can be sent only after all earlier ones. So each request is handled when the one before it was answered, in
 * its own turn: 64 KB that Node.js reads at once may be 2,000 requests. Node.js does not limit their number, and reads on
 * as long as none has been answered. When a connection closes, Node.js notifies only its first response: the others would
 * stay in memory for ever. If unread responses have no room left, the connections with most unread bytes are closed.
 */
export class PipelinedResponses {
  readonly #options: PipelinedOptions;
  readonly #byConnection = new WeakMap<Connection, Unanswered>();
  /** Connections with responses that clients have not read completely, and the bytes of these. */
  readonly #unread = new Map<Connection, Reservation>();
  /** Responses that are not the first of their connection. */
  #waiting = 0;

  constructor(options: PipelinedOptions) {
    this.#options = options;
  }

  /**
   * Makes the response emit `close` when the connection of its request closes.
   *
   * @returns a function that calls a handler when the request's turn has come; the handler resolves once it has ended the
   *   response. Undefined if too many requests already wait: the connection is then closed
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
        // After a response that closes the connection, no other one can be sent.
        const canBeSent = !connection.destroyed && (response.socket !== null || !isSocket(connection));
        if (canBeSent) void handle().then(() => this.#ended(connection, responses));
      };
      if (waits) behind.push(begin);
      else begin();
    };
  }

  /** Closes the connection if its client does not read its responses. A single one may have any length. */
  #ended(connection: Connection, responses: ReadonlySet<ServerResponse>): void {
    if (connection.destroyed) return;
    const bytes = unreadOf(connection, responses);
    // One response of HTTP/1.1 is made at a time; those of HTTP/2 add up.
    if (responses.size > 1 && !isSocket(connection) && bytes > this.#options.unread.most)
      this.#refuse(connection);
    else this.#hold(connection, bytes);
  }

  /** @param bytes the unread bytes of the connection's responses */
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
    // Otherwise Node.js would still create all requests that it has already read.
    const { parser } = connection;
    if (parser?.onIncoming !== undefined) parser.onIncoming = () => UPGRADED;
    connection.destroy();
  }
}

function connectionOf(request: IncomingMessage): Connection {
  // Requests of HTTP/2 have another class, and a socket that represents their session's.
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

/** Does for a waiting response what Node.js does for the first one. */
function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
