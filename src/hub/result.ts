import type { ExecutionResult } from 'graphql';

/** One event's result for all who share it, serialised once. */
export class Payload {
  #json: Buffer;

  constructor(result: ExecutionResult) {
    this.#json = Buffer.from(serialise(result));
  }

  /** The execution result as JSON: shared by all transports and subscribers, so nobody may write to it. */
  get json(): Buffer {
    return this.#json;
  }

  /**
   * To be called where it may have to wait. Node makes small buffers from pieces of 8 KiB: whoever keeps one result
   * would keep some forty others too, which everybody else has been sent.
   */
  keep(): void {
    const { buffer, length } = this.#json;
    if (buffer.byteLength === length) return;
    const own = Buffer.allocUnsafeSlow(length);
    this.#json.copy(own);
    this.#json = own;
  }
}

/** A custom scalar may serialise to what JSON has no word for: that is a fault of the graph, told to its subscribers. */
function serialise(result: ExecutionResult): string {
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
