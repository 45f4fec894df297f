import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Responses that wait for those before them on their connection. Node.js tells only the first of them that the connection
 * has closed: the others would be worked on, and be in memory, for ever.
 */
export class PipelinedResponses {
  readonly #bySocket = new WeakMap<object, Set<ServerResponse>>();

  /** Has the response emit `close` when the connection of its request closes. */
  add({ socket }: IncomingMessage, response: ServerResponse): void {
    const responses = this.#bySocket.get(socket) ?? new Set();
    if (!this.#bySocket.has(socket)) {
      this.#bySocket.set(socket, responses);
      socket.once('close', () => {
        for (const waiting of responses) if (waiting.socket === null) close(waiting);
      });
    }
    responses.add(response);
    response.once('close', () => responses.delete(response));
  }
}

/** As Node.js does with the first. */
function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
