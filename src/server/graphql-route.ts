import { headOf } from '../context/authenticator.ts';
import type { PostTransport } from '../transports/http/post.ts';
import { readBody } from './body.ts';
import { HttpError } from './http-error.ts';
import type { OriginCheck } from './origin-check.ts';
import type { Handle, Route } from './router.ts';

/** Where GraphQL is, over WebSocket and POST alike. */
export const GRAPHQL_PATH = '/graphql';

export interface GraphqlOptions {
  readonly post: Pick<PostTransport, 'respond'>;
  readonly originCheck: OriginCheck;
  readonly maxPayloadBytes: number;
}

/** `/graphql` over plain HTTP: queries by POST, and the browser's question whether a page may send one. */
export function graphqlRoute({ post, originCheck, maxPayloadBytes }: GraphqlOptions): Route {
  const guarded =
    (handle: Handle): Handle =>
    (request, response, rest) => {
      // On refusals too: pages that may read the response should get to see what was wrong.
      for (const [name, value] of Object.entries(originCheck.corsHeaders(request.headers))) {
        if (value !== undefined) response.setHeader(name, value);
      }
      originCheck.demand(request.headers);
      return handle(request, response, rest);
    };
  return {
    path: GRAPHQL_PATH,
    methods: {
      GET: () => {
        throw new HttpError(
          426,
          'expected POST for a query, or a WebSocket with the subprotocol graphql-transport-ws for a subscription; got GET',
          { upgrade: 'websocket' },
        );
      },
      POST: guarded(async (request, response) => {
        const body = await readBody(request, maxPayloadBytes);
        const answer = await post.respond(headOf(request), body.toString());
        response.writeHead(answer.status, { ...answer.headers, 'x-content-type-options': 'nosniff' });
        response.end(answer.body);
      }),
      OPTIONS: guarded((_request, response) => {
        response.writeHead(204, {
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': '600',
        });
        response.end();
      }),
    },
  };
}
