import type { ExecutionResult } from 'graphql';
import type { Message } from '../events/message.ts';
import { cursorOf } from './resume/cursor.ts';

/** One event's result for all subscribers that share it, serialised once. */
export class SerializedResult {
  #json: Buffer;
  /** Of its event, if that is kept. */
  readonly #position: Message['h'];
  readonly #hasExtensions: boolean;
  #withCursor: SerializedResult | undefined;

  /** @param position of its event in the topic's history; undefined if the event is not kept, or there is none */
  constructor(result: ExecutionResult, position?: Message['h']) {
    this.#json = Buffer.from(serialize(result));
    this.#position = position;
    this.#hasExtensions = result.extensions !== undefined;
  }

  /** The same result for all subscribers that resume: with the cursor of its event in `extensions`. */
  get withCursor(): SerializedResult {
    if (this.#position === undefined) return this;
    const [epoch, sequence] = this.#position;
    this.#withCursor ??= this.#extended(cursorOf({ epoch, sequence }));
    return this.#withCursor;
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

  #extended(cursor: string): SerializedResult {
    const copy = new SerializedResult({});
    if (this.#hasExtensions) {
      const result = JSON.parse(this.#json.toString()) as ExecutionResult;
      copy.#json = Buffer.from(JSON.stringify({ ...result, extensions: { ...result.extensions, cursor } }));
    } else {
      const end = Buffer.from(`,"extensions":{"cursor":"${cursor}"}}`);
      copy.#json = Buffer.concat([this.#json.subarray(0, -1), end]);
    }
    return copy;
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
