import { GraphQLError } from 'graphql';
import { createHandler, type Handler, type Response } from 'graphql-http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Authenticator } from '../../context/authenticator.ts';
import type { Contexts } from '../../context/event-scope.ts';
import type { Admission } from '../../executor/admission.ts';
import type { Executor } from '../../executor/executor.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import { parsePostParams } from './post-params.ts';

/** A whole HTTP response, ready to be written. */
export interface PostResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | null;
}

const FORBIDDEN: Response = [
  JSON.stringify({ errors: [{ message: 'Forbidden: authenticate refused the request' }] }),
  { status: 403, statusText: 'Forbidden', headers: { 'content-type': 'application/json; charset=utf-8' } },
];

/**
 * Queries and mutations by `POST`, as GraphQL over HTTP says. graphql-http reads the request and picks the status;
 * the executor does the rest, so documents are parsed once for all transports. Knows nothing of sockets.
 */
export class PostTransport {
  readonly #handle: Handler<RequestHead>;

  constructor(
    admission: Pick<Admission, 'prepare'>,
    executor: Pick<Executor, 'execute'>,
    authenticator: Pick<Authenticator, 'viewerOf'>,
    contexts: Pick<Contexts, 'queryContext'>,
  ) {
    this.#handle = createHandler({
      parseRequestParams: parsePostParams,
      onSubscribe: async ({ raw }, params) => {
        // Before the document is looked at: a refused client neither learns names from errors nor takes time.
        const viewer = await authenticator.viewerOf({}, raw);
        if (viewer === null) return FORBIDDEN;
        const prepared = admission.prepare(params, viewer);
        if (isErrors(prepared)) return prepared;
        if (prepared.kind === 'subscription') {
          return [
            new GraphQLError(
              'Subscriptions are not supported over POST: connect a WebSocket to this URL with the subprotocol graphql-transport-ws.',
            ),
          ];
        }
        const context = contexts.queryContext(viewer);
        const result = await executor.execute(prepared, undefined, context, params.variables ?? {});
        // A result without data never began to execute: graphql-http picks another status for that, given the errors alone.
        return 'data' in result ? result : (result.errors ?? []);
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
