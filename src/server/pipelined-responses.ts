import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface PipelinedOptions {
  /** Most responses that may wait for those before them, of all connections together. */
  readonly most: number;
  /** Bytes of responses that may wait for one connection to take them, as for a WebSocket. */
  readonly mostBytes: number;
  /** A connection was closed for one of these. */
  readonly refused?: (() => void) | undefined;
}

/** Undocumented properties of Node.js's sockets of HTTP/1.1. */
interface Parsed {
  readonly parser?: { onIncoming?: unknown } | null;
}

/** A connection may have responses that wait up to such a part of what is left for all. */
const SHARES = 10;

/** What the parser is told of a request to have it leave the rest of what has been read: it goes to another protocol. */
const UPGRADED = 2;

/**
 * Responses that wait for those before them on their connection. Node.js tells only the first of them that the connection
 * has closed: the others would be worked on, and be in memory, for ever. Nor does it bound how many there are: 64 KB that it
 * reads at once may be 2,000 requests, and it reads on as long as none of them has been answered.
 */
export class PipelinedResponses {
  readonly #options: PipelinedOptions;
  readonly #bySocket = new WeakMap<object, Set<ServerResponse>>();
  /** Responses that are not the first of their connection. */
  #waiting = 0;

  constructor(options: PipelinedOptions) {
    this.#options = options;
  }

  /**
   * Has the response emit `close` when the connection of its request closes.
   *
   * @returns false if so many wait already that the connection is closed
   */
  add({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse): boolean {
    // The streams of HTTP/2 are bounded by its settings, and none waits for another.
    if (httpVersionMajor > 1) return true;
    const responses = this.#of(socket);
    const { size } = responses;
    if (socket.destroyed || (size > 0 && size >= (this.#options.most - this.#waiting) / SHARES)) {
      this.#refuse(socket);
      return false;
    }
    responses.add(response);
    if (size > 0) this.#waiting += 1;
    response.once('close', () => {
      responses.delete(response);
      if (responses.size > 0) this.#waiting -= 1;
    });
    return true;
  }

  /** A response has been given its end. Closes the connection if its client does not read those that it has asked for. */
  ended({ socket }: IncomingMessage): void {
    const responses = this.#bySocket.get(socket);
    if (responses === undefined || responses.size < 2) return;
    let bytes = socket.writableLength;
    for (const { socket: own, writableLength } of responses) if (own === null) bytes += writableLength;
    if (bytes > this.#options.mostBytes) this.#refuse(socket);
  }

  #of(socket: Socket): Set<ServerResponse> {
    const known = this.#bySocket.get(socket);
    if (known !== undefined) return known;
    const responses = new Set<ServerResponse>();
    this.#bySocket.set(socket, responses);
    socket.once('close', () => {
      for (const waiting of responses) if (waiting.socket === null) close(waiting);
    });
    return responses;
  }

  #refuse(socket: Socket): void {
    if (socket.destroyed) return;
    this.#options.refused?.();
    // Node.js would go on to make a request of each that it has read.
    const { parser } = socket as Parsed;
    if (parser?.onIncoming !== undefined) parser.onIncoming = () => UPGRADED;
    socket.destroy();
  }
}

/** As Node.js does with the first. */
function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
