import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { HttpError } from './http-error.ts';
import { sendJson } from './respond.ts';

/** @param rest the part of the request's path after the route's path, percent-encoded; empty if the route is exact */
export type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  rest: string,
) => void | Promise<void>;

export interface Route {
  /** Matched exactly; as a prefix if it ends in a slash and is not the root. */
  readonly path: string;
  /** Requests for which it returns false are answered as if there were no such route. Default: all are admitted. */
  readonly admits?: (request: IncomingMessage) => boolean;
  readonly methods: Readonly<Partial<Record<'GET' | 'POST' | 'OPTIONS', Handle>>>;
}

/**
 * Finds the route of a request, and responds to errors that its handler throws. `HEAD` is handled as `GET`; Node.js
 * omits the body.
 */
export class Router {
  readonly #routes: readonly Route[];
  readonly #log: Log;

  constructor(routes: readonly Route[], log: Log) {
    this.#routes = routes;
    this.#log = log;
  }

  /** Never rejects. */
  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await this.#dispatch(request, response);
    } catch (error) {
      this.#fail(error, request, response);
    }
  };

  #dispatch(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const path = pathOf(request);
    const routes = this.#routes.filter(({ admits }) => admits?.(request) !== false);
    const route = routes.find((candidate) => matches(candidate.path, path));
    if (route === undefined) {
      const known = routes.map((other) => other.path).join(', ');
      throw new HttpError(404, `expected one of the paths ${known}, got another`);
    }
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handle = (route.methods as Readonly<Record<string, Handle | undefined>>)[method ?? ''];
    if (handle === undefined) {
      const allow = allowed(route);
      throw new HttpError(405, `expected ${allow}, got ${request.method}`, { allow });
    }
    return handle(request, response, path.slice(route.path.length));
  }

  #fail(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    if (request.socket.destroyed || response.destroyed) return; // The peer has disconnected, which is no error of the gateway.
    if (error instanceof HttpError && !response.headersSent) {
      sendJson(response, error.status, { error: error.message }, error.headers);
      return;
    }
    this.#log.error({ err: error, path: pathOf(request) }, `request failed: ${messageOf(error)}`);
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { error: 'internal error' });
  }
}

/** The path of a request's URL as the client sent it: percent-encoded, not normalised, without the query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

export function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query === -1 ? '' : url.slice(query));
}

function matches(route: string, path: string): boolean {
  return route.length > 1 && route.endsWith('/') ? path.startsWith(route) : path === route;
}

function allowed({ methods }: Route): string {
  return Object.keys(methods)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
}
