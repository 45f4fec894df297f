import type { ExecutionResult } from 'graphql';

/** One event's result for all subscribers that share it, serialised once. */
export class SerializedResult {
  #json: Buffer;

  constructor(result: ExecutionResult) {
    this.#json = Buffer.from(serialize(result));
  }

  /** The execution result as JSON: shared by all transports and subscribers, which must not write to it. */
  get json(): Buffer {
    return this.#json;
  }

  /**
   * Gives the result memory of its own; to be called when it may have to wait for a slow socket. Node.js makes small
   * buffers from slabs of 8 KiB: a socket that keeps one result would keep some forty others too, which all other
   * sockets have been sent.
   */
  keep(): void {
    const { buffer, length } = this.#json;
    if (buffer.byteLength === length) return;
    const own = Buffer.allocUnsafeSlow(length);
    this.#json.copy(own);
    this.#json = own;
  }
}

/** A custom scalar may serialise to a value that JSON does not have: a fault of the graph, reported to its subscribers. */
function serialize(result: ExecutionResult): string {
  try {
    return JSON.stringify(result);
  } catch {
    const message =
      'The result cannot be written as JSON: a scalar serialises to something that JSON does not have.';
    return JSON.stringify({
      errors: [{ message, extensions: { code: 'UNSERIALISABLE_RESULT' } }],
      data: null,
    });
  }
}
