import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler, type Handler, type RequestParams, type Response } from 'graphql-http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Authenticator } from '../../context/authenticator.ts';
import type { Contexts } from '../../context/event-scope.ts';
import type { Admission } from '../../executor/admission.ts';
import type { Executor } from '../../executor/executor.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Json } from '../../lazy/reads.ts';
import type { Turns, TurnTaker } from '../../support/turns.ts';
import { parsePostParams } from './post-params.ts';

/** A whole HTTP response, ready to be written. */
export interface PostResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | null;
}

/** Requests and connections that may wait for their turn of the event loop before further requests are refused. */
const MAX_WAITING = 1_000;

const FORBIDDEN = refusal(403, 'Forbidden', 'Forbidden: authenticate refused the request');
const BUSY = refusal(503, 'Service Unavailable', 'Too many requests wait for their turn: try again later', {
  'retry-after': '1',
});

const NO_SUBSCRIPTIONS = new GraphQLError(
  'Subscriptions are not supported over POST: connect a WebSocket to this URL with the subprotocol graphql-transport-ws.',
);

export interface PostOptions {
  readonly admission: Pick<Admission, 'prepare'>;
  readonly executor: Pick<Executor, 'execute'>;
  readonly authenticator: Pick<Authenticator, 'viewerOf'>;
  readonly contexts: Pick<Contexts, 'queryContext'>;
  readonly turns: Pick<Turns, 'run' | 'waiting'>;
}

/** One request, which has a turn of its own: its address may be that of a proxy, which many clients share. */
class Request implements TurnTaker {
  spentUntil = 0;
  hold(): void {}
  resume(): void {}
  overrun(): void {}
}

/**
 * Queries and mutations by `POST`, as GraphQL over HTTP says. graphql-http reads the request and picks the status;
 * the executor does the rest, so documents are parsed once for all transports. Knows nothing of sockets.
 */
export class PostTransport {
  readonly #handle: Handler<RequestHead>;

  constructor({ admission, executor, authenticator, contexts, turns }: PostOptions) {
    const answer = async (
      viewer: Json,
      params: RequestParams,
    ): Promise<ExecutionResult | readonly GraphQLError[]> => {
      const prepared = admission.prepare(params, viewer);
      if (isErrors(prepared)) return prepared;
      if (prepared.kind === 'subscription') return [NO_SUBSCRIPTIONS];
      const context = contexts.queryContext(viewer);
      const result = await executor.execute(prepared, undefined, context, params.variables ?? {});
      // A result without data never began to execute: graphql-http picks another status for that, given the errors alone.
      return 'data' in result ? result : (result.errors ?? []);
    };
    this.#handle = createHandler({
      parseRequestParams: parsePostParams,
      onSubscribe: async ({ raw }, params) => {
        // Before the document is looked at: a refused client neither learns names from errors nor takes time.
        const viewer = await authenticator.viewerOf({}, raw);
        if (viewer === null) return FORBIDDEN;
        if (turns.waiting >= MAX_WAITING) return BUSY;
        return new Promise((resolve) => {
          const begin = (): number => {
            resolve(answer(viewer, params));
            return 0;
          };
          turns.run(new Request(), begin);
        });
      },
    });
  }

  /** @param body the request's body, already bounded and read */
  async respond(request: RequestHead, body: string): Promise<PostResponse> {
    const [text, init] = await this.#handle({
      method: 'POST',
      url: '/graphql',
      headers: { get: (name) => request.headers[name]?.toString() ?? null },
      body,
      raw: request,
      context: undefined,
    });
    return { status: init.status, headers: { ...init.headers }, body: text };
  }
}

function isErrors(prepared: object): prepared is readonly GraphQLError[] {
  return Array.isArray(prepared);
}

function refusal(
  status: number,
  statusText: string,
  message: string,
  headers?: Record<string, string>,
): Response {
  const body = JSON.stringify({ errors: [{ message }] });
  const contentType = { 'content-type': 'application/json; charset=utf-8' };
  return [body, { status, statusText, headers: { ...contentType, ...headers } }];
}
