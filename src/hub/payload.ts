import type { ExecutionResult } from 'graphql';
import { framePrefix } from './frame.ts';

/** One event's result for all who share it, serialised once. */
export class Payload {
  /** The execution result as JSON. */
  readonly json: Buffer;
  /** WebSocket frames up to the subscriber's own part, by the length of that part. */
  readonly #prefixes = new Map<number, Buffer>();

  constructor(result: ExecutionResult) {
    this.json = Buffer.from(serialise(result));
  }

  /** The shared part of a `next` frame whose subscriber's part has this many bytes. */
  prefixFor(suffixLength: number): Buffer {
    let prefix = this.#prefixes.get(suffixLength);
    if (prefix === undefined) {
      prefix = framePrefix(this.json, suffixLength);
      this.#prefixes.set(suffixLength, prefix);
    }
    return prefix;
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
