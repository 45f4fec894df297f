import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { HttpError } from './http-error.ts';
import { sendJson } from './respond.ts';

/** @param rest what follows the route's path in the request's, still percent-encoded; empty for an exact route */
export type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  rest: string,
) => void | Promise<void>;

export interface Route {
  /** Matched exactly, or as a beginning if it ends in a slash and is not the root. */
  readonly path: string;
  /** For whom it does not admit the route is not there. Without it everybody is admitted. */
  readonly admits?: (request: IncomingMessage) => boolean;
  readonly methods: Readonly<Partial<Record<'GET' | 'POST' | 'OPTIONS', Handle>>>;
}

/** Finds the route of a request and answers whatever its handler throws. `HEAD` is `GET`; Node.js leaves the body out. */
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
      throw new HttpError(404, `nothing here; there is ${routes.map((known) => known.path).join(', ')}`);
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
    if (request.socket.destroyed) return; // Nobody is left to answer, and it is the peer who left.
    if (error instanceof HttpError && !response.headersSent) {
      sendJson(response, error.status, { error: error.message }, error.headers);
      return;
    }
    this.#log.error({ err: error, path: pathOf(request) }, `request failed: ${messageOf(error)}`);
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { error: 'internal error' });
  }
}

/** The path of a request's URL, as sent: percent-encoded, not normalised, without the query. */
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
