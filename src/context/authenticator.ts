import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../graph/api/context.ts';
import type { GraphDefinition } from '../graph/api/define-graph.ts';
import { frozenJson } from '../lazy/plain-json.ts';
import type { Json } from '../lazy/reads.ts';
import type { Log } from '../log.ts';
import { Interned } from './interned.ts';

/** Everybody, where a graph does not say who is who. */
const NOBODY: Json = Object.freeze({});

/** Finds out who connects, by the graph's `authenticate`. */
export class Authenticator {
  readonly #authenticate: GraphDefinition['authenticate'];
  readonly #timeoutMs: number;
  readonly #log: Log;
  /** Those who are alike to the graph, by role and company say, share one viewer. */
  readonly #viewers = new Interned<Json & object>();

  /** @param timeoutMs how long `authenticate` may take; then it has refused */
  constructor({ authenticate }: Pick<GraphDefinition, 'authenticate'>, timeoutMs: number, log: Log) {
    this.#authenticate = authenticate;
    this.#timeoutMs = timeoutMs;
    this.#log = log;
  }

  /**
   * Never rejects. A promise only where the graph authenticates.
   *
   * @returns the viewer, deep-frozen; null if it is to be refused
   */
  viewerOf(
    connectionParams: Readonly<Record<string, unknown>>,
    request: RequestHead,
  ): Json | Promise<Json | null> {
    return this.#authenticate === undefined ? NOBODY : this.#ask(connectionParams, request);
  }

  async #ask(
    connectionParams: Readonly<Record<string, unknown>>,
    request: RequestHead,
  ): Promise<Json | null> {
    try {
      const viewer = await this.#inTime(this.#authenticate?.(connectionParams, request));
      if (viewer === null) return null;
      if (typeof viewer !== 'object' || Array.isArray(viewer)) {
        throw new TypeError(
          `authenticate: expected an object or null, got ${Array.isArray(viewer) ? 'a list' : typeof viewer}`,
        );
      }
      return this.#viewers.of(frozenJson(viewer, 'viewer') as Json & object);
    } catch (error) {
      this.#log.error({ err: error }, 'authenticate failed, and whoever asked is refused');
      return null;
    }
  }

  async #inTime<T>(asked: T | Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`authenticate took longer than ${this.#timeoutMs} ms`)),
        this.#timeoutMs,
      );
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * What outlives the request: the request itself holds on to its socket and parser. A socket asked for its address
 * keeps it, so it is asked only if the graph asks.
 */
export function headOf({ headers, url = '', socket }: IncomingMessage): RequestHead {
  return {
    headers,
    url,
    get remoteAddress() {
      return socket.remoteAddress;
    },
  };
}
