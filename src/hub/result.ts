import type { ExecutionResult } from 'graphql';
import { UNSERIALISABLE } from '../executor/result-errors.ts';
import type { Message } from '../events/message.ts';
import { cursorOf } from './resume/cursor.ts';

/** How many events were left out for one that supersedes them. */
export interface LeftOut {
  of(subscriber: object): number;
}

interface ResultSource {
  unserialisable(thrown: unknown): void;
}

/** What the gateway adds to `extensions` of an event's result. */
interface EventExtensions {
  readonly cursor?: string | undefined;
  /** Events were left out before this one, as `@delivery` says. */
  readonly gap?: { readonly skipped: number };
}

/** One event's result for all subscribers that share it, serialised once. */
export class SerializedResult {
  #json: Buffer;
  /** The key of its event, if it may be left out for a later one; see `Delivery`. */
  readonly key: string | undefined;
  /** The position of its event, if clients can resume from there. */
  readonly #position: Message['h'];
  #cursor: string | undefined;
  #hasExtensions: boolean;
  #leftOut: LeftOut | undefined;
  /** The result that this one copies; the copy also knows what it supersedes. */
  #shared: SerializedResult | undefined;
  #withCursor: SerializedResult | undefined;
  /** Null: nothing is gained. Undefined: not tried. */
  #compressed: Buffer | null | undefined;
  #isCompressible = true;
  /** Copies that report left-out events, by the number of these; negative if with cursor. */
  #telling: Map<number, SerializedResult> | undefined;

  /**
   * @param position of its event in the topic's history; undefined if clients can't resume from there
   * @param source of the result, which is notified if it can't be serialised
   */
  constructor(result: ExecutionResult, position?: Message['h'], key?: string, source?: ResultSource) {
    this.key = key;
    this.#json = Buffer.from(serialize(result, source));
    this.#position = position;
    this.#hasExtensions = result.extensions !== undefined;
  }

  /** The same result for all subscribers that resume: with the cursor of its event in `extensions`. */
  get withCursor(): SerializedResult {
    if (this.#position === undefined) return this;
    this.#withCursor ??= this.#extended({ cursor: this.cursor });
    return this.#withCursor;
  }

  /**
   * The same result for all subscribers for which `skipped` events were left out before it.
   *
   * @param isShared whether the copy is kept for the next subscriber. Not if each has its own number: then a result that
   *   waits for one socket would keep the copies of all others
   */
  telling(skipped: number, withCursor: boolean, isShared = true): SerializedResult {
    if (skipped === 0) return withCursor ? this.shared.withCursor : this.shared;
    const extensions = { ...(withCursor && { cursor: this.cursor }), gap: { skipped } };
    if (!isShared) {
      const own = this.#extended(extensions);
      // Many slow sockets may catch up at once.
      own.neverCompress();
      return own;
    }
    const key = withCursor ? -skipped : skipped;
    this.#telling ??= new Map();
    const known = this.#telling.get(key);
    if (known !== undefined) return known;
    const told = this.#extended(extensions);
    this.#telling.set(key, told);
    return told;
  }

  /** The result without its counts of superseded events, which cover many subscribers: it may wait for a slow socket. */
  get shared(): SerializedResult {
    return this.#shared ?? this;
  }

  /** A copy of this result that supersedes the results of other events. */
  standingFor(leftOut: LeftOut): SerializedResult {
    const copy = new SerializedResult({}, this.#position, this.key);
    copy.#json = this.#json;
    copy.#compressed = this.#compressed;
    copy.#isCompressible = this.#isCompressible;
    copy.#hasExtensions = this.#hasExtensions;
    copy.#leftOut = leftOut;
    copy.#shared = this;
    return copy;
  }

  /** How many events it supersedes that the subscriber would have got. */
  leftOutFor(subscriber: object): number {
    return this.#leftOut?.of(subscriber) ?? 0;
  }

  /** The cursor of its event, if that is kept: a client that has got this result resumes from there. */
  get cursor(): string | undefined {
    if (this.#position === undefined) return undefined;
    const [epoch, sequence] = this.#position;
    this.#cursor ??= cursorOf({ epoch, sequence });
    return this.#cursor;
  }

  /** The execution result as JSON: shared by all transports and subscribers, which must not write to it. */
  get json(): Buffer {
    return this.#json;
  }

  /** The result must be sent as it is: it holds secrets beside text that others may choose. */
  neverCompress(): void {
    this.#isCompressible = false;
  }

  /**
   * Compresses the JSON, once for all clients of all wires.
   *
   * @param compress the same for each call; returns undefined if nothing is gained
   * @returns undefined for a result that is sent as it is
   */
  compressed(compress: (json: Buffer) => Buffer | undefined): Buffer | undefined {
    if (!this.#isCompressible) return undefined;
    if (this.#compressed === undefined) this.#compressed = compress(this.#json) ?? null;
    return this.#compressed ?? undefined;
  }

  /**
   * Gives the result its own memory. Call it when the result may have to wait for a slow socket: Node.js takes small
   * buffers from slabs of 8 KiB, so one waiting result would keep some forty others in memory that have been sent.
   */
  keep(): void {
    const { buffer, length } = this.#json;
    if (buffer.byteLength === length) return;
    const own = Buffer.allocUnsafeSlow(length);
    this.#json.copy(own);
    this.#json = own;
  }

  #extended(extensions: EventExtensions): SerializedResult {
    const copy = new SerializedResult({}, this.#position);
    copy.#isCompressible = this.#isCompressible;
    if (this.#hasExtensions) {
      const result = JSON.parse(this.#json.toString()) as ExecutionResult;
      const all = { ...result.extensions, ...extensions };
      copy.#json = Buffer.from(JSON.stringify({ ...result, extensions: all }));
    } else {
      const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
      copy.#json = Buffer.concat([this.#json.subarray(0, -1), end]);
    }
    return copy;
  }
}

/** A custom scalar may serialise to a value that JSON does not have: a fault of the graph, reported to its subscribers. */
function serialize(result: ExecutionResult, source: ResultSource | undefined): string {
  try {
    return JSON.stringify(result);
  } catch (error) {
    source?.unserialisable(error);
    return JSON.stringify(UNSERIALISABLE);
  }
}
