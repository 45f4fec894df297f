import type { Claims } from '../auth/token.ts';
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../graph/api/context.ts';
import type { GraphDefinition } from '../graph/api/define-graph.ts';
import { frozenJson } from '../lazy/plain-json.ts';
import type { Json } from '../lazy/reads.ts';
import type { Log } from '../log.ts';
import { withTimeout } from '../support/with-timeout.ts';
import { Interned } from '../support/interned.ts';

/** The viewer of a graph without `authenticate`. */
const EMPTY_VIEWER: Json = Object.freeze({});

/** Calls the graph's `authenticate` for each connection, GraphQL request over HTTP, and fresh token. */
export class Authenticator {
  readonly #authenticate: GraphDefinition['authenticate'];
  readonly #timeoutMs: number;
  readonly #log: Log;
  /** Connections with equal viewers share one object. */
  readonly #viewers = new Interned<Json & object>();

  /** @param timeoutMs how long `authenticate` may take before the client is refused */
  constructor({ authenticate }: Pick<GraphDefinition, 'authenticate'>, timeoutMs: number, log: Log) {
    this.#authenticate = authenticate;
    this.#timeoutMs = timeoutMs;
    this.#log = log;
  }

  /**
   * Identifies a client. Never rejects; returns a promise only if the graph has `authenticate`.
   *
   * @param connectionParams payload of `connection_init`, or sent with a fresh token; empty for a request over HTTP
   * @param request head of the HTTP request
   * @param claims of the client's token, if it has been verified; null if it has sent none
   * @returns the viewer, deep-frozen; null if the client is to be refused
   */
  viewerOf(
    connectionParams: Readonly<Record<string, unknown>>,
    request: RequestHead,
    claims: Claims | null = null,
  ): Json | Promise<Json | null> {
    return this.#authenticate === undefined
      ? EMPTY_VIEWER
      : this.#callGraph(connectionParams, request, claims);
  }

  /** Identifies the client of a request without verifying a token. If the viewer is null, the client is refused. */
  async identify(
    params: Readonly<Record<string, unknown>>,
    request: RequestHead,
  ): Promise<{ readonly viewer: Json; readonly token: undefined }> {
    return { viewer: await this.viewerOf(params, request), token: undefined };
  }

  /** Whether the graph itself says who the viewer is. */
  get asksGraph(): boolean {
    return this.#authenticate !== undefined;
  }

  /** @param viewer deep-frozen */
  interned(viewer: Json & object): Json {
    return this.#viewers.of(viewer);
  }

  async #callGraph(
    connectionParams: Readonly<Record<string, unknown>>,
    request: RequestHead,
    claims: Claims | null,
  ): Promise<Json | null> {
    try {
      const called = Promise.resolve(this.#authenticate?.(connectionParams, request, claims));
      const viewer = await withTimeout(called, this.#timeoutMs, () => {
        throw new Error(`authenticate took longer than ${this.#timeoutMs} ms`);
      });
      if (viewer === null) return null;
      if (typeof viewer !== 'object' || Array.isArray(viewer)) {
        throw new TypeError(
          `authenticate: expected an object or null, got ${Array.isArray(viewer) ? 'a list' : typeof viewer}`,
        );
      }
      return this.#viewers.of(frozenJson(viewer, 'viewer') as Json & object);
    } catch (error) {
      this.#log.error({ err: error }, 'authenticate failed; the connection is refused');
      return null;
    }
  }
}

/**
 * Returns the part of a request that a connection may keep: the request itself would keep its socket and parser in
 * memory. A socket stores its address at the first read, so `remoteAddress` is read only when the graph reads it.
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
